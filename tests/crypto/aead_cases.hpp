// The two AEADs under one interface, and their published vectors.
#pragma once

#include <string_view>
#include <vector>

#include "crypto/xchacha20poly1305.hpp"
#include "tests/crypto/testing.hpp"

namespace culvert::tests {

struct aead_case {
    buffer key, nonce, ad, plaintext, ciphertext, tag;
    bool valid = true;
};

// RFC 8439: nonces of 12 bytes.
struct short_nonce {
    static constexpr std::size_t nonce_size = 12;
    static constexpr const char* name = "aead_chacha20_poly1305";
    using encryptor = crypto::chacha20poly1305::encryptor;
    using decryptor = crypto::chacha20poly1305::decryptor;
    using stream_opener = crypto::chacha20poly1305::stream_opener;
    static constexpr auto seal = crypto::chacha20poly1305::seal;
    static constexpr auto open = crypto::chacha20poly1305::open;
    // By libsodium; gives ciphertext and tag.
    static aead_case oracle(aead_case c);
};

// The XChaCha20 draft: nonces of 24 bytes.
struct long_nonce {
    static constexpr std::size_t nonce_size = 24;
    static constexpr const char* name = "aead_xchacha20_poly1305";
    using encryptor = crypto::xchacha20poly1305::encryptor;
    using decryptor = crypto::xchacha20poly1305::decryptor;
    using stream_opener = crypto::xchacha20poly1305::stream_opener;
    static constexpr auto seal = crypto::xchacha20poly1305::seal;
    static constexpr auto open = crypto::xchacha20poly1305::open;
    static aead_case oracle(aead_case c);
};

// Every kernel that this CPU runs.
std::vector<crypto::aead_kernel> aead_kernel_sets();
// The longest run that any of them takes at once, in bytes.
constexpr std::size_t widest_aead_kernel() {
    return crypto::aead_run;
}

// The records of a file for nonces of `nonce_size` bytes and keys and tags of the right size.
std::vector<aead_case> plain_cases(std::string_view path, std::string_view test);
std::vector<aead_case> wycheproof_cases(std::string_view path, std::size_t nonce_size);
std::vector<aead_case> boringssl_cases(std::string_view path);

// key 00 … 1f, nonce 0, plaintext i mod 256, additional data (255 − i) mod 256.
aead_case counting_case(std::size_t nonce_size, std::size_t text_size, std::size_t ad_size);
aead_case random_aead_case(random_source& random, std::size_t nonce_size, std::size_t text_size,
                           std::size_t ad_size);

template <class Aead, class Object>
Object make(const aead_case& c, const crypto::aead_kernel& kernel = crypto::best_aead_kernel()) {
    return Object(exactly<32>(c.key), exactly<Aead::nonce_size>(c.nonce), kernel);
}
template <class Aead>
auto make_encryptor(const aead_case& c,
                    const crypto::aead_kernel& kernel = crypto::best_aead_kernel()) {
    return make<Aead, typename Aead::encryptor>(c, kernel);
}
template <class Aead>
auto make_decryptor(const aead_case& c,
                    const crypto::aead_kernel& kernel = crypto::best_aead_kernel()) {
    return make<Aead, typename Aead::decryptor>(c, kernel);
}
template <class Aead>
auto make_opener(const aead_case& c,
                 const crypto::aead_kernel& kernel = crypto::best_aead_kernel()) {
    return make<Aead, typename Aead::stream_opener>(c, kernel);
}

struct sealed {
    buffer ciphertext, tag;
    bool operator==(const sealed&) const = default;
};

template <class Aead>
sealed seal(const aead_case& c, const crypto::aead_kernel& kernel = crypto::best_aead_kernel()) {
    sealed out{buffer(c.plaintext.size()), buffer(16)};
    if (!Aead::seal(exactly<32>(c.key), exactly<Aead::nonce_size>(c.nonce), c.ad, c.plaintext,
                    out.ciphertext, crypto::bytes(out.tag).first<16>(), kernel)) {
        throw std::runtime_error("seal refused");
    }
    return out;
}

struct opened {
    bool verified;
    buffer plaintext;
};

// The output is filled with 0xaa before.
template <class Aead>
opened open(const aead_case& c, const crypto::aead_kernel& kernel = crypto::best_aead_kernel()) {
    buffer out(c.ciphertext.size(), 0xaa);
    const bool verified = Aead::open(exactly<32>(c.key), exactly<Aead::nonce_size>(c.nonce), c.ad,
                                     c.ciphertext, exactly<16>(c.tag), out, kernel);
    return {verified, std::move(out)};
}

}  // namespace culvert::tests
