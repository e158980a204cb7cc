// The functions that the AVX2 kernels are made of, never inlined.
#pragma once

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/cpu.hpp"

namespace culvert::crypto::avx2 {

inline constexpr std::size_t pass_size = 1024;

void mac_blocks(poly1305_state& state, const std::uint8_t* in, std::size_t blocks) noexcept;

// As aead_kernel::authenticate.
void authenticate(aead_state& state, const std::uint8_t* in, std::size_t blocks) noexcept;

// What a pass keeps in memory. The same object serves all passes of a call.
struct pass_memory {
    using vector = std::array<std::uint32_t, 8>;
    struct set {
        std::array<vector, 4> a, c;  // words 0 … 3 and 8 … 11
    };
    alignas(32) set x, y;
    vector last;               // word 15 of the second set
    vector rotate16, rotate8;  // byte shuffles
};

// One pass: 16 blocks of the key stream from state.cipher's word 12 on, which is advanced.
//   xor_pass       out = in ^ key stream
//   stream_pass    out = key stream
//   *_mac_pass     the same, and the 1024 bytes at `text` are authenticated
void xor_pass(chacha20_words& cipher, pass_memory& memory, const std::uint8_t* in,
              std::uint8_t* out) noexcept;
void stream_pass(chacha20_words& cipher, pass_memory& memory, std::uint8_t* out) noexcept;
void xor_mac_pass(aead_state& state, pass_memory& memory, const std::uint8_t* text,
                  const std::uint8_t* in, std::uint8_t* out) noexcept;
void stream_mac_pass(aead_state& state, pass_memory& memory, const std::uint8_t* text,
                     std::uint8_t* out) noexcept;

}  // namespace culvert::crypto::avx2
