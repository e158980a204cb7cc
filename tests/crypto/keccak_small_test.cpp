// Keccak-p of every width: the published states before and after, and after each round.
#include "crypto/keccak_small.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "crypto/kernels/keccak.hpp"
#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::keccak_f_rounds;
using crypto::keccak_state;

template <class Lane>
keccak_state<Lane> state_of(bytes_view bytes) {
    keccak_state<Lane> state;
    REQUIRE(bytes.size() == sizeof state);
    std::memcpy(state.data(), bytes.data(), sizeof state);
    return state;
}

template <class Lane>
void check_record(const vector_record& record) {
    auto state = state_of<Lane>(record.bytes("before"));
    crypto::keccak_f(state);
    CHECK(state == state_of<Lane>(record.bytes("after")));
}

// Five lines of five lanes as hex numbers.
template <class Lane>
keccak_state<Lane> lanes_in(std::span<const std::string> lines) {
    std::string all;
    for (const std::string& line : lines) all += line + ' ';
    std::istringstream words(all);
    keccak_state<Lane> state;
    for (Lane& lane : state) {
        std::uint64_t value = 0;
        words >> std::hex >> value;
        lane = static_cast<Lane>(value);
    }
    REQUIRE(words);
    return state;
}

// The states that XKCP's file shows after each round, of both of its examples one after the other.
template <class Lane>
std::vector<keccak_state<Lane>> states_after_rounds(const char* path) {
    const std::vector<std::string> lines = read_lines(path);
    std::vector<keccak_state<Lane>> states;
    for (std::size_t i = 0; i + 5 < lines.size(); ++i) {
        if (lines[i].starts_with("After iota"))
            states.push_back(lanes_in<Lane>(std::span(lines).subspan(i + 1, 5)));
    }
    return states;
}

template <class Lane>
void check_rounds(const char* path) {
    const auto states = states_after_rounds<Lane>(path);
    const unsigned rounds = keccak_f_rounds<Lane>;
    REQUIRE(states.size() == 2 * rounds);
    for (std::size_t i = 0; i < states.size(); ++i) {
        const std::size_t example = i / rounds;
        auto state = states[i];
        crypto::keccak_p(state, static_cast<unsigned>(rounds - 1 - i % rounds));
        CHECK(state == states[example * rounds + rounds - 1]);
    }
}

}  // namespace

TEST_CASE("published states before and after the permutation") {
    std::size_t count = 0;
    for (const vector_record& record : read_vectors("keccak/keccak_f.txt")) {
        const std::uint64_t width = record.number("width");
        if (width == 200) check_record<std::uint8_t>(record);
        if (width == 400) check_record<std::uint16_t>(record);
        if (width == 800) check_record<std::uint32_t>(record);
        if (width == 1600) check_record<std::uint64_t>(record);
        ++count;
    }
    CHECK(count == 8);
}

TEST_CASE("from the state after any round, the rounds that are left give the last state") {
    check_rounds<std::uint8_t>("keccak/KeccakF-200-IntermediateValues.txt");
    check_rounds<std::uint16_t>("keccak/KeccakF-400-IntermediateValues.txt");
    check_rounds<std::uint32_t>("keccak/KeccakF-800-IntermediateValues.txt");
    check_rounds<std::uint64_t>("keccak/KeccakF-1600-IntermediateValues.txt");
}

TEST_CASE("24 rounds at 1600 bits are what the kernels compute") {
    random_source random;
    for (int round = 0; round < 100; ++round) {
        auto a = state_of<std::uint64_t>(random.bytes(200));
        crypto::keccak_lanes b = a;
        crypto::keccak_f(a);
        crypto::best_keccak_kernel().permute(b);
        CHECK(a == b);
    }
}

}  // namespace culvert::tests
