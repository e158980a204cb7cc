// ChaCha20 (RFC 8439 §2.4) and HChaCha20 (draft-irtf-cfrg-xchacha-03 §2.2).
#pragma once

#include "crypto/bytes.hpp"
#include "crypto/kernels/chacha20.hpp"
#include "crypto/secret.hpp"

namespace culvert::crypto {

// Derives a 32-byte key from a key and the first 16 bytes of an XChaCha20 nonce. `out` may be
// `key`.
void hchacha20(block_view<32> key, block_view<16> prefix, block<32> out) noexcept;

// One key stream. A moved-from object has no stream left and refuses everything.
class chacha20 {
  public:
    static constexpr std::size_t key_size = 32;
    static constexpr std::size_t nonce_size = 12;
    static constexpr std::size_t block_size = 64;

    // The stream begins at 64-byte block `counter`.
    chacha20(block_view<key_size> key, block_view<nonce_size> nonce, std::uint32_t counter = 0,
             const chacha20_kernel& kernel = best_chacha20_kernel()) noexcept;
    chacha20(chacha20&&) noexcept = default;
    chacha20& operator=(chacha20&&) noexcept = default;

    // out[0 … in.size()) = in ^ the next bytes of the key stream, whatever the sizes of the calls
    // before. `in` and `out` begin at the same address or are disjoint. Refuses, with false and
    // nothing changed, more bytes than remaining(), an output shorter than the input and a partial
    // overlap.
    [[nodiscard]] bool xor_stream(bytes_view in, bytes out) noexcept;

    // out = the next bytes of the key stream itself. Refuses more than remaining().
    [[nodiscard]] bool keystream(bytes out) noexcept;

    // Bytes before the 32-bit block counter would wrap, 2^38 at most.
    [[nodiscard]] std::uint64_t remaining() const noexcept;

  private:
    struct state {
        chacha20_words words;
        std::uint64_t blocks_left;                       // 2^32 − block counter; words[12] wraps
        std::array<std::uint8_t, block_size> left_over;  // key stream of the block begun
        std::size_t left_over_size;                      // its last bytes, not used yet
    };

    std::size_t use_left_over(bytes_view in, bytes out) noexcept;
    std::size_t use_blocks(bytes_view in, bytes out) noexcept;
    void begin_block(bytes_view in, bytes out) noexcept;

    wiped<state> state_;
    const chacha20_kernel* kernel_;
};

}  // namespace culvert::crypto
