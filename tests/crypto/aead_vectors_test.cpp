// Published vectors of both AEADs: in one shot, cut in two at every offset, and as a stream with
// the tag behind the text. Everything runs once for each kernel.
#include <doctest/doctest.h>

#include <utility>

#include "tests/crypto/aead_cases.hpp"

namespace culvert::tests {
namespace {

using crypto::status;

template <class Object>
bool update(Object& object, bytes_view in, crypto::bytes out, std::size_t cut) {
    return object.update(in.first(cut), out.first(cut)) == status::ok &&
           object.update(in.subspan(cut), out.subspan(cut)) == status::ok;
}

template <class Aead>
bool right_when_cut(const aead_case& c, std::size_t cut, const crypto::aead_kernel& kernel) {
    auto encryptor = make_encryptor<Aead>(c, kernel);
    auto decryptor = make_decryptor<Aead>(c, kernel);
    sealed made{buffer(c.plaintext.size()), buffer(16)};
    buffer text(c.ciphertext);  // decrypted in place
    if (encryptor.add_ad(c.ad) != status::ok || decryptor.add_ad(c.ad) != status::ok) return false;
    if (!update(encryptor, c.plaintext, made.ciphertext, cut)) return false;
    if (!update(decryptor, text, text, cut)) return false;
    std::move(encryptor).finish(crypto::bytes(made.tag).template first<16>());
    const bool verified = std::move(decryptor).finish(exactly<16>(c.tag));
    return made == sealed{c.ciphertext, c.tag} && verified && text == c.plaintext;
}

// text‖tag cut in two anywhere, also inside the tag.
template <class Aead>
bool stream_right_when_cut(const aead_case& c, std::size_t cut, const crypto::aead_kernel& kernel) {
    const buffer stream = joined(c.ciphertext, c.tag);
    auto opener = make_opener<Aead>(c, kernel);
    if (opener.add_ad(c.ad) != status::ok) return false;
    buffer text(c.ciphertext.size());
    std::size_t written = 0;
    for (const bytes_view piece :
         {bytes_view(stream).first(cut), bytes_view(stream).subspan(cut)}) {
        const auto [result, size] = opener.update(piece, crypto::bytes(text).subspan(written));
        if (result != status::ok) return false;
        written += size;
    }
    return std::move(opener).finish() == c.valid && written == text.size() &&
           (text == c.plaintext) == c.valid;
}

template <class Aead>
void check_valid(const aead_case& c, const crypto::aead_kernel& kernel) {
    CHECK(seal<Aead>(c, kernel) == sealed{c.ciphertext, c.tag});
    const opened result = open<Aead>(c, kernel);
    CHECK(result.verified);
    CHECK(result.plaintext == c.plaintext);
    for (const std::size_t cut : cuts(c.plaintext.size())) {
        if (!right_when_cut<Aead>(c, cut, kernel)) FAIL("wrong when cut at " << cut);
    }
    for (const std::size_t cut : cuts(c.plaintext.size() + 16)) {
        if (!stream_right_when_cut<Aead>(c, cut, kernel)) FAIL("stream wrong when cut at " << cut);
    }
}

template <class Aead>
void check_invalid(const aead_case& c, const crypto::aead_kernel& kernel) {
    const opened result = open<Aead>(c, kernel);
    CHECK_FALSE(result.verified);
    CHECK(result.plaintext == buffer(c.ciphertext.size()));
    auto opener = make_opener<Aead>(c, kernel);
    buffer text(c.ciphertext.size());
    REQUIRE(opener.add_ad(c.ad) == status::ok);
    REQUIRE(opener.update(joined(c.ciphertext, c.tag), text).result == status::ok);
    CHECK_FALSE(std::move(opener).finish());
}

template <class Aead>
void check_all(const std::vector<aead_case>& cases, std::size_t valid, std::size_t invalid = 0) {
    std::size_t valid_seen = 0;
    for (const auto& kernel : aead_kernel_sets()) {
        CAPTURE(std::string(kernel.name));
        for (const aead_case& c : cases) {
            c.valid ? check_valid<Aead>(c, kernel) : check_invalid<Aead>(c, kernel);
        }
    }
    for (const aead_case& c : cases) valid_seen += c.valid ? 1 : 0;
    CHECK(valid_seen == valid);
    CHECK(cases.size() == valid + invalid);
}

}  // namespace

TEST_CASE("RFC 8439 and the XChaCha20 draft") {
    check_all<short_nonce>(plain_cases("rfc/rfc8439.txt", short_nonce::name), 2);
    check_all<long_nonce>(plain_cases("rfc/draft-irtf-cfrg-xchacha-03.txt", long_nonce::name), 1);
}

TEST_CASE("Wycheproof") {
    check_all<short_nonce>(wycheproof_cases("wycheproof/chacha20_poly1305.txt", 12), 256, 60);
    check_all<long_nonce>(wycheproof_cases("wycheproof/xchacha20_poly1305.txt", 24), 246, 60);
}

TEST_CASE("Go's vectors") {
    check_all<short_nonce>(plain_cases("chacha/aead_go.txt", short_nonce::name), 46);
    check_all<long_nonce>(plain_cases("chacha/aead_go.txt", long_nonce::name), 56);
}

TEST_CASE("BoringSSL's vectors; of those with a cut tag, that beginning") {
    auto cases = boringssl_cases("chacha/chacha20_poly1305_tests_boringssl.txt");
    std::vector<aead_case> cut;
    std::erase_if(cases, [&](const aead_case& c) {
        if (c.tag.size() != 16) cut.push_back(c);
        return c.tag.size() != 16;
    });
    check_all<short_nonce>(cases, 66);
    CHECK(cut.size() == 15);
    for (const aead_case& c : cut) {
        sealed made = seal<short_nonce>(c);
        made.tag.resize(c.tag.size());
        CHECK(made == sealed{c.ciphertext, c.tag});
    }
    check_all<long_nonce>(boringssl_cases("chacha/xchacha20_poly1305_tests_boringssl.txt"), 52);
}

}  // namespace culvert::tests
