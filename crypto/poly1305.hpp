// Poly1305, the one-time authenticator (RFC 8439 §2.5).
#pragma once

#include "crypto/bytes.hpp"
#include "crypto/kernels/poly1305.hpp"
#include "crypto/secret.hpp"

namespace culvert::crypto {

// One message under one key; the key must never serve a second message.
class poly1305 {
  public:
    static constexpr std::size_t key_size = 32;
    static constexpr std::size_t tag_size = 16;
    static constexpr std::size_t block_size = 16;

    explicit poly1305(block_view<key_size> key,
                      const poly1305_kernel& kernel = best_poly1305_kernel()) noexcept;
    poly1305(poly1305&&) noexcept = default;
    poly1305& operator=(poly1305&&) noexcept = default;

    // The next bytes of the message, in pieces of any size.
    void update(bytes_view in) noexcept;

    // Fills up with zero bytes to a multiple of 16, as the AEAD does after each part
    // (RFC 8439 §2.8).
    void pad_to_block() noexcept;

    void finish(block<tag_size> tag) && noexcept;

  private:
    struct state {
        poly1305_state accumulator;
        std::array<std::uint64_t, 2> s;                  // added to the accumulator at the end
        std::array<std::uint8_t, block_size> left_over;  // the block begun
        std::size_t left_over_size;                      // below 16 between calls
    };

    std::size_t fill_block(bytes_view in) noexcept;

    wiped<state> state_;
    const poly1305_kernel* kernel_;
};

}  // namespace culvert::crypto
