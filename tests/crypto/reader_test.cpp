// The readers of the vector files: were they lenient, every other test could pass by testing
// nothing.
#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {

TEST_CASE("hex goes both ways and refuses anything else") {
    CHECK(from_hex("00ff10Ab") == buffer{0x00, 0xff, 0x10, 0xab});
    CHECK(from_hex("").empty());
    CHECK(to_hex(from_hex("00ff10ab")) == "00ff10ab");
    CHECK_THROWS_AS(from_hex("0"), std::invalid_argument);
    CHECK_THROWS_AS(from_hex("0g"), std::invalid_argument);
    CHECK_THROWS_AS(from_hex("0 "), std::invalid_argument);
}

TEST_CASE("a record gives its fields and nothing that is not there") {
    const auto records = read_vectors("rfc/draft-irtf-cfrg-xchacha-03.txt");
    REQUIRE(records.size() == 4);
    const vector_record& first = records.front();
    CHECK(first.line == 4);
    CHECK(first.text("test") == "hchacha20");
    CHECK(first.bytes("nonce16").size() == 16);
    CHECK(records[2].number("counter") == 0);
    CHECK(first.has("subkey"));
    CHECK_FALSE(first.has("tag"));
    CHECK_THROWS_AS((void)first.text("tag"), std::out_of_range);
    CHECK_THROWS_AS((void)first.bytes("test"), std::invalid_argument);
    CHECK_THROWS_AS((void)first.number("subkey"), std::invalid_argument);
}

TEST_CASE("text in quotes and NAME: value lines are read") {
    const auto records = read_vectors("chacha/chacha20_poly1305_tests_boringssl.txt");
    REQUIRE(records.size() == 81);
    CHECK(records[1].bytes("IN") == text("123456789abcdef0"));
    CHECK(records[1].bytes("AD") == text("1"));
    CHECK(records[1].bytes("CT").size() == 16);
}

TEST_CASE("a file that is missing or is not a vector file is refused") {
    CHECK_THROWS_AS(read_vectors("no/such/file.txt"), std::runtime_error);
    CHECK_THROWS_AS(read_vectors("README.md"), std::runtime_error);
}

TEST_CASE("a span of another size than asked for is refused") {
    CHECK_THROWS_AS(exactly<32>(counting(31)), std::length_error);
    CHECK(exactly<4>(bytes_view(counting(4)))[3] == 3);
}

TEST_CASE("partitions add up") {
    random_source random;
    for (const std::size_t total : sizes{0u, 1u, 100u, 65536u}) {
        std::size_t sum = 0;
        for (const std::size_t size : random.partition(total)) sum += size;
        CHECK(sum == total);
    }
}

}  // namespace culvert::tests
