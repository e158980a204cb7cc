// Who can be measured: a way to encrypt and authenticate, a way to hash. culvert by one of its
// kernels, or a peer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "crypto/bytes.hpp"

namespace culvert::bench {

// What the AEADs work on: key, nonce, 13 bytes of additional data as in a record, 64 KiB.
struct work {
    static constexpr std::size_t longest = 65536;
    static constexpr std::size_t ad_size = 13;

    std::uint8_t key[32], nonce[12], ad[ad_size], tag[16];
    std::vector<std::uint8_t> plaintext, ciphertext, out;
};

class aead {
  public:
    aead() = default;
    aead(const aead&) = delete;
    aead& operator=(const aead&) = delete;
    virtual ~aead() = default;

    [[nodiscard]] virtual std::string name() const = 0;
    // The first `size` bytes of plaintext to `out` and the tag to `tag`.
    virtual void seal(work& w, std::size_t size) = 0;
    // The first `size` bytes of ciphertext to `out`, with the tag in `tag`; whether it was right.
    [[nodiscard]] virtual bool open(work& w, std::size_t size) = 0;
    // The same in pieces. False when the contender has no way to do it.
    [[nodiscard]] virtual bool has_pieces() const { return false; }
    [[nodiscard]] virtual bool open_pieces(work& w, std::size_t size, std::size_t piece) {
        return size == 0 && piece == 0 && open(w, 0);
    }
};
using aeads = std::vector<std::unique_ptr<aead>>;

class hash {
  public:
    hash() = default;
    hash(const hash&) = delete;
    hash& operator=(const hash&) = delete;
    virtual ~hash() = default;

    // One message; the size of `out` is the algorithm's, or any for the XOFs.
    virtual void operator()(crypto::bytes_view in, crypto::bytes out) = 0;
};

}  // namespace culvert::bench
