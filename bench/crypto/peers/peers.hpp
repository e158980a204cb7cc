// The same functions by other libraries, each in its fastest form: everything that can be made
// once is made once.
#pragma once

#include <functional>
#include <stdexcept>

#include "bench/crypto/contender.hpp"

namespace culvert::bench {

struct library {
    std::string name;
    std::string version;
    bench::aeads aeads;  // ChaCha20-Poly1305 by each of its interfaces
    // "SHA3-256", "SHAKE128" and so on. Empty when it has none of them.
    std::function<std::unique_ptr<hash>(const std::string& algorithm)> make_hash;
};

library openssl();
library ipsec_mb();
library libgcrypt();
library libsodium();

// KMAC256 with these fixed; `out_size` in bytes. The key must outlive it.
std::unique_ptr<hash> openssl_kmac256(crypto::bytes_view customisation, crypto::bytes_view key,
                                      std::size_t out_size);

// A library that refuses a call is no contender: throws `what`.
inline void require(bool done, const char* what) {
    if (!done) throw std::runtime_error(what);
}

}  // namespace culvert::bench
