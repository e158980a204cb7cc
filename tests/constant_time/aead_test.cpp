// XChaCha20-Poly1305: nothing that is done depends on the key or the text. The sizes, the nonce,
// the additional data and the verdict are public.
#include <doctest/doctest.h>

#include <utility>

#include "crypto/xchacha20poly1305.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {
namespace {

namespace aead = crypto::xchacha20poly1305;
using crypto::status;

// Every path: short tails, a run less a byte, several runs and a tail.
constexpr std::array<std::size_t, 16> text_sizes{0,   1,   15,   16,   17,   64,   100,  256,
                                                 960, 961, 1400, 2047, 2048, 2049, 4096, 9999};
constexpr std::array<std::size_t, 9> pieces{1, 15, 16, 64, 100, 700, 1400, 2048, 5000};

const auto kernels = runnable(crypto::aead_kernel_table());
const buffer nonce = counting(aead::nonce_size, 40);

struct sealed {
    buffer text;
    std::array<std::uint8_t, aead::tag_size> tag{};
};

// Calls update for pieces of `in`, in place.
template <class Object>
void update_in_pieces(Object& object, buffer& in) {
    crypto::bytes left = in;
    for (std::size_t i = 0; !left.empty(); ++i) {
        const auto piece = left.first(std::min(pieces.at(i % pieces.size()), left.size()));
        REQUIRE(object.update(piece, piece) == status::ok);
        left = left.subspan(piece.size());
    }
}

template <class Object>
void add_ad(Object& object, bytes_view ad) {
    REQUIRE(object.add_ad(ad.first(ad.size() / 3)) == status::ok);
    REQUIRE(object.add_ad(ad.subspan(ad.size() / 3)) == status::ok);
}

void check_whole(const crypto::aead_kernel& kernel, std::size_t size) {
    const buffer key = concealed(counting(32));
    const buffer text = concealed(pattern_251(size));
    const buffer ad = counting(size % 67);
    sealed made{buffer(size)};
    REQUIRE(
        aead::seal(exactly<32>(key), exactly<24>(nonce), ad, text, made.text, made.tag, kernel));
    CHECK(is_secret(made.text));
    CHECK(is_secret(made.tag));

    buffer opened(size);
    CHECK(
        aead::open(exactly<32>(key), exactly<24>(nonce), ad, made.text, made.tag, opened, kernel));
    CHECK(is_secret(opened));
    CHECK(revealed(opened) == pattern_251(size));
    made.tag[7] ^= 1;
    CHECK_FALSE(
        aead::open(exactly<32>(key), exactly<24>(nonce), ad, made.text, made.tag, opened, kernel));
    CHECK(opened == buffer(size));
}

sealed seal_in_pieces(const crypto::aead_kernel& kernel, bytes_view key, bytes_view ad,
                      buffer text) {
    aead::encryptor message(exactly<32>(key), exactly<24>(nonce), kernel);
    add_ad(message, ad);
    update_in_pieces(message, text);
    sealed made{std::move(text)};
    std::move(message).finish(made.tag);
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("constant_time.aead");

TEST_CASE("whole messages") {
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        for (const std::size_t size : text_sizes) check_whole(*kernel, size);
    }
}

TEST_CASE("messages in pieces") {
    const buffer key = concealed(counting(32)), ad = counting(100);
    for (const auto* kernel : kernels) {
        MESSAGE(std::string(kernel->name));
        sealed made = seal_in_pieces(*kernel, key, ad, concealed(pattern_251(20'000)));
        CHECK(is_secret(made.text));
        CHECK(is_secret(made.tag));

        aead::decryptor message(exactly<32>(key), exactly<24>(nonce), *kernel);
        add_ad(message, ad);
        update_in_pieces(message, made.text);
        CHECK(std::move(message).finish(made.tag));
        CHECK(is_secret(made.text));
        CHECK(revealed(made.text) == pattern_251(20'000));
    }
}

TEST_CASE("text and tag in one stream") {
    const buffer key = concealed(counting(32)), ad = counting(33);
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        const sealed made = seal_in_pieces(*kernel, key, ad, concealed(pattern_251(9'000)));
        const buffer stream = joined(made.text, made.tag);
        aead::stream_opener opener(exactly<32>(key), exactly<24>(nonce), *kernel);
        add_ad(opener, ad);
        buffer opened(made.text.size());
        bytes_view in = stream;
        crypto::bytes out = opened;
        for (std::size_t i = 0; !in.empty(); ++i) {
            const std::size_t size = std::min(pieces.at(i % pieces.size()), in.size());
            const auto done = opener.update(in.first(size), out);
            REQUIRE(done.result == status::ok);
            in = in.subspan(size);
            out = out.subspan(done.written);
        }
        CHECK(std::move(opener).finish());
        CHECK(is_secret(opened));
        CHECK(revealed(opened) == pattern_251(9'000));
    }
}

TEST_SUITE_END();

}  // namespace culvert::tests
