// Keccak-f[1600] by itself: published states, and the kernels against each other.
#include "crypto/keccak.hpp"

#include <doctest/doctest.h>

#include <cctype>

#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::keccak_lanes;
using kernel = crypto::keccak_kernel;

const auto kernels = runnable(crypto::keccak_kernels());

struct permutation_case {
    buffer before, after;
};

keccak_lanes lanes_of(bytes_view state) {
    REQUIRE(state.size() == 200);
    keccak_lanes lanes;
    for (std::size_t i = 0; i < 25; ++i) lanes[i] = crypto::load64_le(state.data() + 8 * i);
    return lanes;
}

void check_permutations(const std::vector<permutation_case>& cases, std::size_t count) {
    REQUIRE(cases.size() == count);
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (const permutation_case& c : cases) {
            keccak_lanes lanes = lanes_of(c.before);
            each->permute(lanes);
            CHECK(lanes == lanes_of(c.after));
        }
    }
}

buffer spaced_hex(std::string line) {
    std::erase_if(line, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
    return from_hex(line);
}

// The states in XKCP's files: the line after `before` and the line after `after` in turn.
std::vector<permutation_case> states_of(std::string_view path, std::string_view before,
                                        std::string_view after) {
    const std::vector<std::string> lines = read_lines(path);
    std::vector<permutation_case> cases;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        if (lines[i].starts_with(before)) cases.push_back({spaced_hex(lines[i + 1]), {}});
        if (lines[i].starts_with(after))
            cases.at(cases.size() - 1).after = spaced_hex(lines[i + 1]);
    }
    return cases;
}

void absorb_like_the_portable(const kernel& each, std::size_t rate, std::size_t blocks,
                              random_source& random) {
    keccak_lanes a = lanes_of(random.bytes(200));
    keccak_lanes b = a;
    const guarded_buffer in{bytes_view(random.bytes(rate * blocks))};
    each.absorb_blocks(a, in.span().data(), rate, blocks);
    const keccak_lanes before = b;
    crypto::keccak_kernels().back().absorb_blocks(b, in.span().data(), rate, blocks);
    CHECK(a == b);
    const std::size_t moved = 1 + random.below(7);
    const buffer unaligned = joined(buffer(moved), in.span());
    keccak_lanes c = before;
    each.absorb_blocks(c, unaligned.data() + moved, rate, blocks);
    CHECK(c == b);
}

// Several states as permute_n takes them: lane i of state j is word i·states + j.
keccak_lanes column(std::span<const std::uint64_t> matrix, std::size_t states, std::size_t j) {
    keccak_lanes lanes;
    for (std::size_t i = 0; i < 25; ++i) lanes[i] = matrix[i * states + j];
    return lanes;
}

void permute_several_like_one(const kernel& each, std::size_t states, random_source& random) {
    CAPTURE(states);
    const buffer content = random.bytes(200 * states);
    const guarded_buffer memory{bytes_view(content)};
    const std::span matrix(reinterpret_cast<std::uint64_t*>(memory.span().data()), 25 * states);
    std::vector<keccak_lanes> right;
    for (std::size_t j = 0; j < states; ++j) {
        right.push_back(column(matrix, states, j));
        crypto::keccak_kernels().back().permute(right.back());
    }
    each.permute_n(matrix.data(), states);
    for (std::size_t j = 0; j < states; ++j) CHECK(column(matrix, states, j) == right[j]);
}

}  // namespace

TEST_CASE("published states before and after the permutation") {
    std::vector<permutation_case> cases;
    for (const vector_record& record : read_vectors("keccak/keccak_f.txt")) {
        if (record.number("width") != 1600) continue;
        cases.push_back({record.bytes("before"), record.bytes("after")});
    }
    check_permutations(cases, 2);
}

TEST_CASE("the intermediate values of KeccakF-1600") {
    check_permutations(states_of("keccak/KeccakF-1600-IntermediateValues.txt",
                                 "Input of permutation:", "State after permutation:"),
                       2);
}

TEST_CASE("the intermediate values of SHAKE256") {
    check_permutations(states_of("keccak/KeccakSpongeIntermediateValues_SHAKE256.txt",
                                 "Input of permutation:", "State after permutation:"),
                       32);
}

TEST_CASE("every kernel gives the portable kernel's state from random ones, for every rate") {
    random_source random;
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (int round = 0; round < 500; ++round) {
            keccak_lanes a = lanes_of(random.bytes(200));
            keccak_lanes b = a;
            each->permute(a);
            crypto::keccak_kernels().back().permute(b);
            CHECK(a == b);
        }
        for (std::size_t rate = 8; rate < 200; rate += 8) {
            for (const std::size_t blocks : sizes{0, 1, 2, 3, 5, 9}) {
                absorb_like_the_portable(*each, rate, blocks, random);
            }
        }
    }
}

TEST_CASE(
    "several states at once are each permuted as one alone, and nothing behind them is touched") {
    random_source random;
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (int round = 0; round < 20; ++round) {
            for (std::size_t states = 1; states <= 17; ++states)
                permute_several_like_one(*each, states, random);
        }
        permute_several_like_one(*each, 64, random);
        each->permute_n(nullptr, 0);
    }
}

TEST_CASE("several states at once: nothing before or between their words is touched") {
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (std::size_t states = 1; states <= 17; ++states) {
            std::vector<std::uint64_t> words(25 * states + 16, 0x5555);
            each->permute_n(words.data() + 8, states);
            CHECK(std::ranges::count(std::span(words).first(8), 0x5555) == 8);
            CHECK(std::ranges::count(std::span(words).last(8), 0x5555) == 8);
        }
    }
}

TEST_CASE("a copy of a sponge is independent") {
    crypto::keccak_sponge a(136);
    a.absorb(counting(50));
    crypto::keccak_sponge b = a;
    crypto::keccak_sponge c = b;
    b.absorb(counting(1));
    a.pad(0x1f);
    c.pad(0x1f);
    buffer from_a(32), from_c(32);
    a.squeeze(from_a);
    c.squeeze(from_c);
    CHECK(from_a == from_c);
}

}  // namespace culvert::tests
