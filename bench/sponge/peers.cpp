#include "bench/sponge/peers.hpp"

#include <openssl/core_names.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace culvert::bench {
namespace {

int gcrypt_number(std::string_view name) {
    if (name == "SHA3-224") return GCRY_MD_SHA3_224;
    if (name == "SHA3-256") return GCRY_MD_SHA3_256;
    if (name == "SHA3-384") return GCRY_MD_SHA3_384;
    if (name == "SHA3-512") return GCRY_MD_SHA3_512;
    return name == "SHAKE128" ? GCRY_MD_SHAKE128 : GCRY_MD_SHAKE256;
}

bool is_xof(std::string_view name) {
    return name.starts_with("SHAKE");
}

}  // namespace

void require(bool done) {
    if (done) return;
    std::fputs("sponge_bench: a library of the comparison refused a call\n", stderr);
    std::abort();
}

openssl_hash::openssl_hash(const char* name)
    : algorithm_(EVP_MD_fetch(nullptr, name, nullptr), EVP_MD_free),
      context_(EVP_MD_CTX_new(), EVP_MD_CTX_free),
      xof_(is_xof(name)) {
    require(algorithm_ && context_);
}

void openssl_hash::hash(crypto::bytes_view in, crypto::bytes out) {
    require(EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1);
    require(EVP_DigestUpdate(context_.get(), in.data(), in.size()) == 1);
    require((xof_ ? EVP_DigestFinalXOF(context_.get(), out.data(), out.size())
                  : EVP_DigestFinal_ex(context_.get(), out.data(), nullptr)) == 1);
}

openssl_kmac256::openssl_kmac256(crypto::bytes_view customisation, std::size_t out_size)
    : algorithm_(EVP_MAC_fetch(nullptr, "KMAC256", nullptr), EVP_MAC_free),
      context_(EVP_MAC_CTX_new(algorithm_.get()), EVP_MAC_CTX_free) {
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_CUSTOM,
                                          const_cast<std::uint8_t*>(customisation.data()),
                                          customisation.size()),
        OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &out_size),
        OSSL_PARAM_construct_end(),
    };
    require(EVP_MAC_CTX_set_params(context_.get(), parameters) == 1);
}

void openssl_kmac256::mac(crypto::bytes_view key, crypto::bytes_view in, crypto::bytes out) {
    require(EVP_MAC_init(context_.get(), key.data(), key.size(), nullptr) == 1);
    require(EVP_MAC_update(context_.get(), in.data(), in.size()) == 1);
    require(EVP_MAC_final(context_.get(), out.data(), nullptr, out.size()) == 1);
}

gcrypt_hash::gcrypt_hash(const char* name) : algorithm_(gcrypt_number(name)) {
    static const bool ready = gcry_check_version(nullptr) != nullptr;
    require(ready && gcry_md_open(&handle_, algorithm_, 0) == 0);
}

gcrypt_hash::~gcrypt_hash() {
    gcry_md_close(handle_);
}

void gcrypt_hash::hash(crypto::bytes_view in, crypto::bytes out) {
    gcry_md_reset(handle_);
    gcry_md_write(handle_, in.data(), in.size());
    if (algorithm_ == GCRY_MD_SHAKE128 || algorithm_ == GCRY_MD_SHAKE256) {
        require(gcry_md_extract(handle_, algorithm_, out.data(), out.size()) == 0);
    } else {
        std::memcpy(out.data(), gcry_md_read(handle_, algorithm_), out.size());
    }
}

}  // namespace culvert::bench
