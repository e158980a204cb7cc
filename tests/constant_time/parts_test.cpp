// What the AEAD is made of, each on its own: ChaCha20, Poly1305, the comparison of tags.
#include <doctest/doctest.h>

#include <utility>

#include "crypto/chacha20.hpp"
#include "crypto/poly1305.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {
namespace {

constexpr std::array<std::size_t, 9> pieces{1, 15, 17, 64, 100, 257, 640, 1400, 3000};

buffer stream_xor(const crypto::chacha20_kernel& kernel, bytes_view key, buffer text) {
    const buffer nonce = counting(12, 40);
    crypto::chacha20 stream(exactly<32>(key), exactly<12>(nonce), 1, kernel);
    crypto::bytes left = text;
    for (const std::size_t size : pieces) {
        REQUIRE(stream.xor_stream(left.first(size), left.first(size)));
        left = left.subspan(size);
    }
    return text;
}

buffer tag_of(const crypto::poly1305_kernel& kernel, bytes_view key, bytes_view message) {
    crypto::poly1305 mac(exactly<32>(key), kernel);
    for (const std::size_t size : pieces) {
        mac.update(message.first(size));
        if (size == 100) mac.pad_to_block();
        message = message.subspan(size);
    }
    buffer tag(16);
    std::move(mac).finish(crypto::bytes(tag).first<16>());
    return tag;
}

std::size_t sum_of_pieces() {
    std::size_t sum = 0;
    for (const std::size_t size : pieces) sum += size;
    return sum;
}

}  // namespace

TEST_CASE("ChaCha20" * doctest::test_suite("constant_time.chacha20")) {
    const buffer key = counting(32), text = pattern_251(sum_of_pieces());
    for (const auto* kernel : runnable(crypto::chacha20_kernels())) {
        MESSAGE(std::string(kernel->name));
        const buffer made = stream_xor(*kernel, concealed(key), concealed(text));
        CHECK(is_secret(made));
        CHECK(revealed(made) == stream_xor(*kernel, key, text));
    }
}

TEST_CASE("HChaCha20" * doctest::test_suite("constant_time.chacha20")) {
    buffer key = concealed(counting(32));
    const buffer prefix = counting(16);
    crypto::hchacha20(exactly<32>(key), exactly<16>(prefix), crypto::bytes(key).first<32>());
    CHECK(is_secret(key));
}

// A message of ones, a key whose r is as large as it can be: the most carries.
TEST_CASE("Poly1305" * doctest::test_suite("constant_time.poly1305")) {
    const buffer ones(sum_of_pieces(), 0xff);
    for (const auto* kernel : runnable(crypto::poly1305_kernels())) {
        MESSAGE(std::string(kernel->name));
        for (const buffer& key : {counting(32, 0x85), buffer(32, 0xff), buffer(32, 0)}) {
            const buffer made = tag_of(*kernel, concealed(key), concealed(ones));
            CHECK(is_secret(made));
            CHECK(revealed(made) == tag_of(*kernel, key, ones));
        }
    }
}

TEST_CASE("comparison" * doctest::test_suite("constant_time.comparison")) {
    for (const std::size_t size : sizes{0, 1, 16, 32, 100}) {
        const buffer a = concealed(counting(size));
        CHECK(crypto::equal_constant_time(a, concealed(counting(size))));
        for (std::size_t i = 0; i < size; ++i) {
            buffer b = counting(size);
            b[i] ^= 0x10;
            conceal(b);
            CHECK_FALSE(crypto::equal_constant_time(a, b));
        }
    }
}

TEST_CASE("secret" * doctest::test_suite("constant_time.comparison")) {
    const buffer bytes = concealed(counting(32));
    crypto::secret<32> a(exactly<32>(bytes));
    CHECK(is_secret(a.view()));
    CHECK(a == a.clone());
    CHECK_FALSE(a.is_zero());
    crypto::wipe(a.writable());
    CHECK(a.is_zero());
}

}  // namespace culvert::tests
