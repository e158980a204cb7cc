// The contract of the AEADs, in one shot and piecewise: the same bytes whatever the pieces, the
// kernel, the alignment. Everything runs for both nonce sizes, and once for each kernel.
#include <doctest/doctest.h>
#include <sodium.h>

#include <optional>
#include <utility>

#include "tests/crypto/aead_feeding.hpp"

namespace culvert::tests {
using crypto::status;

TEST_CASE_TEMPLATE(
    "libsodium agrees on every length up to twice the widest kernel and on long ones", Aead,
    short_nonce, long_nonce) {
    REQUIRE(sodium_init() >= 0);
    random_source random;
    for (const auto& kernel : aead_kernel_sets()) {
        CAPTURE(std::string(kernel.name));
        for (std::size_t size = 0; size <= 2 * widest_aead_kernel() + 1 + 150; ++size) {
            const auto c =
                Aead::oracle(random_aead_case(random, Aead::nonce_size, size, random.below(70)));
            if (seal<Aead>(c, kernel) != sealed{c.ciphertext, c.tag}) FAIL("wrong at " << size);
            if (open<Aead>(c, kernel).plaintext != c.plaintext) FAIL("opened wrong at " << size);
        }
        for (int i = 0; i < 60; ++i) {
            const auto c = Aead::oracle(random_aead_case(random, Aead::nonce_size,
                                                         random.below(100000), random.below(3000)));
            CHECK(seal<Aead>(c, kernel) == sealed{c.ciphertext, c.tag});
            CHECK(open<Aead>(c, kernel).verified);
        }
    }
}

// cryptonite #117, wolfSSL #2709 and #3354, bc-java #674: the tag or the text depended on how the
// message was cut.
TEST_CASE_TEMPLATE("any partition of a message gives the text and tag of one shot", Aead,
                   short_nonce, long_nonce) {
    random_source random;
    const aead_case c = sealed_case<Aead>(65536, 1000);
    for (const auto& kernel : aead_kernel_sets()) {
        CAPTURE(std::string(kernel.name));
        for (int round = 0; round < (slowed ? 200 : 2000); ++round) {
            auto encryptor = make_encryptor<Aead>(c, kernel);
            const buffer ciphertext = feed(encryptor, c.ad, random.partition(c.ad.size()),
                                           c.plaintext, random.partition(c.plaintext.size()));
            if (ciphertext != c.ciphertext) FAIL("wrong ciphertext in round " << round);
            if (tag_of(std::move(encryptor)) != c.tag) FAIL("wrong tag in round " << round);

            auto decryptor = make_decryptor<Aead>(c, kernel);
            const buffer plaintext = feed(decryptor, c.ad, random.partition(c.ad.size()),
                                          c.ciphertext, random.partition(c.ciphertext.size()));
            if (plaintext != c.plaintext) FAIL("wrong plaintext in round " << round);
            if (!std::move(decryptor).finish(exactly<16>(c.tag))) FAIL("refused in " << round);
        }
    }
}

TEST_CASE("XChaCha20-Poly1305 tags at lengths around blocks, pieces and pads") {
    const struct {
        std::size_t text_size, ad_size;
        const char* tag;
    } cases[] = {
        {0, 0, "c37cd9ed462925e24ca30f972ce1a931"},
        {0, 1, "45b80254a3958b0c9ad1fc749d34ee5f"},
        {1, 0, "90937d45ad67f79e015cdf54fa3086ae"},
        {15, 16, "dc1a7c4c28eba7febef8326cbf03e9f1"},
        {16, 15, "80fc0dcd95639b2f8eb8c720953a7c68"},
        {63, 0, "f04f6f515bbd6b351e59431f64cbc76d"},
        {64, 17, "6910b915f8d0ab3b1bced6ac0aa51bc6"},
        {65, 0, "9bc51d22b3c98531876d23aa7ee1cdac"},
        {1024, 12, "7de4188b56cd9edddcdd5f530cb394bf"},
        {16384, 0, "bcccd4918a376ad3a6e0371e134ca37c"},
        {65536, 13, "314388ffe6ba9ae5e3639f64a131a5ce"},
    };
    for (const auto& kernel : aead_kernel_sets()) {
        for (const auto& [text_size, ad_size, tag] : cases) {
            CHECK(to_hex(seal<long_nonce>(counting_case(24, text_size, ad_size), kernel).tag) ==
                  tag);
        }
    }
}

// weidai11/cryptopp #1069, #1362 and #1363: wide code that added in 64-bit lanes got one bit wrong
// in rare blocks. In these messages key stream word 12 of a block is zero, so that such a carry
// shows; the block stands at another place in the run of a wide kernel each time.
TEST_CASE("blocks whose word 12 comes out as zero carry nothing into word 13") {
    const struct {
        const char* nonce_end;
        std::size_t size;
        const char* tag;
        std::size_t at;
        const char* ciphertext;
    } cases[] = {
        {"023a460000000000", 32768, "6157e8602b52a32e73640c0e6bdb87c0", 19312,
         "00000000cac1e24957adf0b920c36910"},
        {"023a460000000000", 65536, "41c0841db3c1ca90b5695b95ee30b62a", 19312,
         "00000000cac1e24957adf0b920c36910"},
        {"f59f6c0000000000", 65536, "95f44be621eb544976d4378426b0c610", 53680,
         "000000007af2eb473b0bdae8d427d91b"},
        {"cefa1c0000000000", 65536, "ed88f9980348ac0a62cc42fc0e95d92c", 64 * 412 + 48, "00000000"},
    };
    for (const auto& kernel : aead_kernel_sets()) {
        CAPTURE(std::string(kernel.name));
        for (const auto& [nonce_end, size, tag, at, ciphertext] : cases) {
            aead_case c = counting_case(24, 0, 0);
            c.plaintext.assign(size, 0);
            c.nonce = joined(buffer(16), from_hex(nonce_end));
            const sealed made = seal<long_nonce>(c, kernel);
            CHECK(to_hex(made.tag) == tag);
            const buffer right = from_hex(ciphertext);
            CHECK(to_hex(bytes_view(made.ciphertext).subspan(at, right.size())) == ciphertext);
        }
    }
}

// dryoc #73, OpenJCEPlus #1196, wolfSSL #2706: additional data above one block, in pieces, or none.
TEST_CASE_TEMPLATE(
    "additional data of every length up to 65 in every two pieces gives the same tag", Aead,
    short_nonce, long_nonce) {
    for (std::size_t size = 0; size <= 65; ++size) {
        for (const std::size_t text_size : sizes{0, 1, 16, 100}) {
            const aead_case c = sealed_case<Aead>(text_size, size);
            for (std::size_t cut = 0; cut <= size; ++cut) {
                auto encryptor = make_encryptor<Aead>(c);
                CHECK(feed(encryptor, c.ad, {cut, size - cut}, c.plaintext, {text_size}) ==
                      c.ciphertext);
                CHECK(tag_of(std::move(encryptor)) == c.tag);
            }
        }
    }
}

// noble-ciphers #47 (misaligned views refused), chachapoly #2 (alignment).
TEST_CASE("every alignment of input against output gives the same text and tag") {
    const aead_case c = sealed_case<long_nonce>(400, 13);
    for (const auto& kernel : aead_kernel_sets()) {
        CAPTURE(std::string(kernel.name));
        buffer from(464), to(464), tag(16);
        for (std::size_t i = 0; i < 64; ++i) {
            for (std::size_t j = 0; j < 64; j += stride(5)) {
                const crypto::bytes in = crypto::bytes(from).subspan(i, 400);
                const crypto::bytes out = crypto::bytes(to).subspan(j, 400);
                std::copy(c.plaintext.begin(), c.plaintext.end(), in.begin());
                if (!long_nonce::seal(exactly<32>(c.key), exactly<24>(c.nonce), c.ad, in, out,
                                      crypto::bytes(tag).first<16>(), kernel) ||
                    !std::ranges::equal(out, c.ciphertext) || tag != c.tag) {
                    FAIL("wrong at offsets " << i << ", " << j);
                }
            }
        }
    }
}

TEST_CASE("nothing behind input, additional data and output is touched, and the input stays") {
    random_source random;
    for (const auto& kernel : aead_kernel_sets()) {
        CAPTURE(std::string(kernel.name));
        for (std::size_t size = 0; size <= 2 * widest_aead_kernel() + 17; size += 1 + size / 100) {
            const auto c = long_nonce::oracle(random_aead_case(random, 24, size, size % 40));
            const guarded_buffer in{bytes_view(c.plaintext)};
            const guarded_buffer ad{bytes_view(c.ad)};
            const guarded_buffer out(size);
            const guarded_buffer tag(16);
            REQUIRE(long_nonce::seal(exactly<32>(c.key), exactly<24>(c.nonce), ad.span(), in.span(),
                                     out.span(), tag.span().first<16>(), kernel));
            CHECK(std::ranges::equal(out.span(), c.ciphertext));
            CHECK(std::ranges::equal(tag.span(), c.tag));
            CHECK(std::ranges::equal(in.span(), c.plaintext));
            REQUIRE(long_nonce::open(exactly<32>(c.key), exactly<24>(c.nonce), ad.span(),
                                     out.span(), exactly<16>(tag.span()), out.span(), kernel));
            CHECK(std::ranges::equal(out.span(), c.plaintext));
        }
    }
}

// No message leads there by chance: a kernel whose one-time key is r = 1, s = 0, and whose key
// stream is zero. Two blocks and the lengths then add up to 2^130 − 2, which is 3.
TEST_CASE("a sum between the prime and 2^130 is reduced at the end") {
    crypto::aead_kernel kernel = crypto::aead_kernel_table().back();
    kernel.keystream = [](crypto::chacha20_words&, std::uint8_t* out, std::size_t blocks) noexcept {
        std::fill_n(out, 64 * blocks, std::uint8_t{0});
        out[0] = 1;
        return blocks;
    };
    aead_case c = counting_case(12, 32, 0);
    std::fill(c.plaintext.begin(), c.plaintext.end(), std::uint8_t{0});
    crypto::store64_le(c.plaintext.data(), 0xfffffffffffffffe);
    crypto::store64_le(c.plaintext.data() + 8, 0xffffffffffffffff - 32);
    const sealed made = seal<short_nonce>(c, kernel);
    CHECK(made.ciphertext == c.plaintext);
    CHECK(to_hex(made.tag) == "03000000000000000000000000000000");
}

TEST_CASE("a decryptor can be kept by value and made again for each message") {
    std::optional<crypto::chacha20poly1305::decryptor> kept;
    for (std::size_t size = 0; size < 100; ++size) {
        const aead_case c = sealed_case<short_nonce>(size, 0);
        kept.emplace(exactly<32>(c.key), exactly<12>(c.nonce));
        buffer text(size);
        REQUIRE(kept->update(c.ciphertext, text) == status::ok);
        CHECK(std::move(*kept).finish(exactly<16>(c.tag)));
        CHECK(text == c.plaintext);
    }
}

}  // namespace culvert::tests
