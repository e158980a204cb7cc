// The same functions by other libraries, each in its fastest form: everything that can be made
// once is made once.
#pragma once

#include <gcrypt.h>
#include <openssl/evp.h>

#include <memory>

#include "crypto/bytes.hpp"

namespace culvert::bench {

// Ends the program when a library refuses.
void require(bool done);

class openssl_hash {
  public:
    // "SHA3-256", "SHAKE128" and so on.
    explicit openssl_hash(const char* name);
    void hash(crypto::bytes_view in, crypto::bytes out);

  private:
    std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm_;
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
    bool xof_;
};

class openssl_kmac256 {
  public:
    explicit openssl_kmac256(crypto::bytes_view customisation, std::size_t out_size);
    void mac(crypto::bytes_view key, crypto::bytes_view in, crypto::bytes out);

  private:
    std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm_;
    std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context_;
};

class gcrypt_hash {
  public:
    // The same names.
    explicit gcrypt_hash(const char* name);
    gcrypt_hash(const gcrypt_hash&) = delete;
    gcrypt_hash& operator=(const gcrypt_hash&) = delete;
    ~gcrypt_hash();
    void hash(crypto::bytes_view in, crypto::bytes out);

  private:
    int algorithm_;
    gcry_md_hd_t handle_ = nullptr;
};

}  // namespace culvert::bench
