// The functions that the NEON kernels are made of, never inlined.
#pragma once

#include "crypto/kernels/aead.hpp"

namespace culvert::crypto::neon {

// A set: the blocks that stand side by side in the vectors.
inline constexpr std::size_t set_blocks = 4;
inline constexpr std::size_t set_size = 64 * set_blocks;  // bytes

// One set from word 12 on, which is advanced.
//   xor_set      out = in ^ key stream, in place or disjoint
//   stream_set   out = key stream
void xor_set(chacha20_words& cipher, const std::uint8_t* in, std::uint8_t* out) noexcept;
void stream_set(chacha20_words& cipher, std::uint8_t* out) noexcept;

// out = the block at word 12, which is advanced.
void stream_block(chacha20_words& cipher, std::uint8_t* out) noexcept;

// A run of the key stream, and the run at `text` is authenticated. The output may be the text.
//   xor_mac_run      out = in ^ key stream, in place or disjoint
//   stream_mac_run   out = key stream
void xor_mac_run(aead_state& state, const std::uint8_t* text, const std::uint8_t* in,
                 std::uint8_t* out) noexcept;
void stream_mac_run(aead_state& state, const std::uint8_t* text, std::uint8_t* out) noexcept;

// As aead_kernel::authenticate.
void authenticate(aead_state& state, const std::uint8_t* in, std::size_t blocks) noexcept;

}  // namespace culvert::crypto::neon
