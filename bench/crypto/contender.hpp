// One way to encrypt and authenticate: culvert with a kernel, or a peer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crypto/chacha20poly1305.hpp"

namespace culvert::bench {

// What all contenders work on: key, nonce, 13 bytes of additional data as in a record, 64 KiB.
struct work {
    static constexpr std::size_t longest = 65536;
    static constexpr std::size_t ad_size = 13;

    std::uint8_t key[32], nonce[12], ad[ad_size], tag[16];
    std::vector<std::uint8_t> plaintext, ciphertext, out;
};

// Deterministic content.
work make_work();

class contender {
  public:
    contender() = default;
    contender(const contender&) = delete;
    contender& operator=(const contender&) = delete;
    virtual ~contender() = default;

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

using contenders = std::vector<std::unique_ptr<contender>>;

// OpenSSL, libsodium, ipsec-mb by jobs and by direct calls, libgcrypt.
contenders aead_peers();

}  // namespace culvert::bench
