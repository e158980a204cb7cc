// bash-f: the standard's states, and its hash over it, in as few lines as the vectors need.
#include "crypto/bash_f.hpp"

#include <doctest/doctest.h>

#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::bash_words;

template <std::size_t N>
std::array<std::uint64_t, N> words_of(bytes_view bytes) {
    REQUIRE(bytes.size() == 8 * N);
    std::array<std::uint64_t, N> words;
    for (std::size_t i = 0; i < N; ++i) words[i] = crypto::load64_le(bytes.data() + 8 * i);
    return words;
}

std::vector<vector_record> records_of(std::string_view test) {
    std::vector<vector_record> out;
    for (const vector_record& record : read_vectors("bash/bash.txt")) {
        if (record.text("test") == test) out.push_back(record);
    }
    return out;
}

// bash-hash (STB 34.101.77 §7) with a digest of `size` bytes.
buffer hash(bytes_view message, std::size_t size) {
    const std::size_t rate = 192 - 2 * size;
    bash_words state{};
    state[23] = size;  // ℓ/4, where ℓ = 4·size bits
    auto* bytes = reinterpret_cast<std::uint8_t*>(state.data());
    for (; message.size() >= rate; message = message.subspan(rate)) {
        std::copy_n(message.begin(), rate, bytes);
        crypto::bash_f(state);
    }
    std::fill_n(bytes, rate, std::uint8_t{0});
    std::ranges::copy(message, bytes);
    bytes[message.size()] = 0x40;
    crypto::bash_f(state);
    return {bytes, bytes + size};
}

void check_hashes(std::string_view name, std::size_t size, std::size_t count) {
    const auto records = records_of(name);
    CHECK(records.size() == count);
    for (const vector_record& record : records) {
        CAPTURE(record.text("section"));
        CHECK(hash(record.bytes("msg"), size) == record.bytes("md"));
    }
}

}  // namespace

TEST_CASE("bash-s") {
    const auto records = records_of("bash-s");
    CHECK(records.size() == 1);
    for (const vector_record& record : records) {
        const auto rotation = [&](const char* name) {
            return static_cast<int>(record.number(name));
        };
        auto words = words_of<3>(record.bytes("before"));
        crypto::bash_s(words[0], words[1], words[2],
                       {rotation("m1"), rotation("n1"), rotation("m2"), rotation("n2")});
        CHECK(words == words_of<3>(record.bytes("after")));
    }
}

TEST_CASE("bash-f") {
    const auto records = records_of("bash-f");
    CHECK(records.size() == 1);
    for (const vector_record& record : records) {
        auto words = words_of<24>(record.bytes("before"));
        crypto::bash_f(words);
        CHECK(words == words_of<24>(record.bytes("after")));
    }
}

TEST_CASE("bash-hash") {
    check_hashes("bash256", 32, 4);
    check_hashes("bash384", 48, 3);
    check_hashes("bash512", 64, 4);
}

}  // namespace culvert::tests
