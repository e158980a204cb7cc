#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "bench/crypto/peers/peers.hpp"

namespace culvert::bench {
namespace {

int int_size(std::size_t size) {
    return static_cast<int>(size);
}

class chacha20poly1305 : public aead {
  public:
    chacha20poly1305() : sealing_(EVP_CIPHER_CTX_new()), opening_(EVP_CIPHER_CTX_new()) {
        EVP_EncryptInit_ex(sealing_, EVP_chacha20_poly1305(), nullptr, nullptr, nullptr);
        EVP_DecryptInit_ex(opening_, EVP_chacha20_poly1305(), nullptr, nullptr, nullptr);
    }
    ~chacha20poly1305() override {
        EVP_CIPHER_CTX_free(sealing_);
        EVP_CIPHER_CTX_free(opening_);
    }
    [[nodiscard]] std::string name() const override { return "openssl"; }
    void seal(work& w, std::size_t size) override {
        int written = 0;
        EVP_EncryptInit_ex(sealing_, nullptr, nullptr, w.key, w.nonce);
        EVP_EncryptUpdate(sealing_, nullptr, &written, w.ad, int_size(work::ad_size));
        EVP_EncryptUpdate(sealing_, w.out.data(), &written, w.plaintext.data(), int_size(size));
        EVP_EncryptFinal_ex(sealing_, w.out.data() + size, &written);
        EVP_CIPHER_CTX_ctrl(sealing_, EVP_CTRL_AEAD_GET_TAG, 16, w.tag);
    }
    bool open(work& w, std::size_t size) override { return open_pieces(w, size, size); }
    [[nodiscard]] bool has_pieces() const override { return true; }
    bool open_pieces(work& w, std::size_t size, std::size_t piece) override {
        int written = 0;
        EVP_DecryptInit_ex(opening_, nullptr, nullptr, w.key, w.nonce);
        EVP_DecryptUpdate(opening_, nullptr, &written, w.ad, int_size(work::ad_size));
        for (std::size_t at = 0; at < size; at += piece) {
            EVP_DecryptUpdate(opening_, w.out.data() + at, &written, w.ciphertext.data() + at,
                              int_size(std::min(piece, size - at)));
        }
        EVP_CIPHER_CTX_ctrl(opening_, EVP_CTRL_AEAD_SET_TAG, 16, w.tag);
        return EVP_DecryptFinal_ex(opening_, w.out.data() + size, &written) == 1;
    }

  private:
    EVP_CIPHER_CTX* sealing_;
    EVP_CIPHER_CTX* opening_;
};

class digest : public hash {
  public:
    explicit digest(const std::string& name)
        : algorithm_(EVP_MD_fetch(nullptr, name.c_str(), nullptr), EVP_MD_free),
          context_(EVP_MD_CTX_new(), EVP_MD_CTX_free),
          is_xof_(name.starts_with("SHAKE")) {
        require(algorithm_ && context_, "OpenSSL lacks a hash");
    }
    void operator()(crypto::bytes_view in, crypto::bytes out) override {
        EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr);
        EVP_DigestUpdate(context_.get(), in.data(), in.size());
        require((is_xof_ ? EVP_DigestFinalXOF(context_.get(), out.data(), out.size())
                         : EVP_DigestFinal_ex(context_.get(), out.data(), nullptr)) == 1,
                "OpenSSL does not hash");
    }

  private:
    std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm_;
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
    bool is_xof_;
};

class kmac256 : public hash {
  public:
    kmac256(crypto::bytes_view customisation, crypto::bytes_view key, std::size_t out_size)
        : algorithm_(EVP_MAC_fetch(nullptr, "KMAC256", nullptr), EVP_MAC_free),
          context_(EVP_MAC_CTX_new(algorithm_.get()), EVP_MAC_CTX_free),
          key_(key) {
        const OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_CUSTOM,
                                              const_cast<std::uint8_t*>(customisation.data()),
                                              customisation.size()),
            OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &out_size),
            OSSL_PARAM_construct_end(),
        };
        require(EVP_MAC_CTX_set_params(context_.get(), parameters) == 1, "OpenSSL lacks KMAC256");
    }
    void operator()(crypto::bytes_view in, crypto::bytes out) override {
        EVP_MAC_init(context_.get(), key_.data(), key_.size(), nullptr);
        EVP_MAC_update(context_.get(), in.data(), in.size());
        require(EVP_MAC_final(context_.get(), out.data(), nullptr, out.size()) == 1,
                "OpenSSL makes no KMAC256");
    }

  private:
    std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm_;
    std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context_;
    crypto::bytes_view key_;
};

}  // namespace

library openssl() {
    library made{
        "openssl", OpenSSL_version(OPENSSL_VERSION_STRING), {}, [](const std::string& algorithm) {
            return std::make_unique<digest>(algorithm);
        }};
    made.aeads.push_back(std::make_unique<chacha20poly1305>());
    return made;
}

std::unique_ptr<hash> openssl_kmac256(crypto::bytes_view customisation, crypto::bytes_view key,
                                      std::size_t out_size) {
    return std::make_unique<kmac256>(customisation, key, out_size);
}

}  // namespace culvert::bench
