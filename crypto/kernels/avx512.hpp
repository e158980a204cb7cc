// The functions that the AVX-512 kernels are made of, each in a unit of its own or never inlined:
// compilers get the registers right only for one of them at a time.
#pragma once

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/cpu.hpp"

namespace culvert::crypto::avx512 {

// As aead_kernel::authenticate.
void authenticate(aead_state& state, const std::uint8_t* in, std::size_t blocks) noexcept;

// What a pass keeps in memory. The same object serves all passes of a call.
struct pass_memory {
    using vector = std::array<std::uint64_t, 8>;
    alignas(64) std::array<vector, 8> row_a;  // words 0 … 3 of both sets
    std::array<vector, 6> sums;               // products not carried yet
    std::array<vector, 3> lanes;              // the accumulator's lanes, not multiplied yet
    bool fresh;                               // no group so far: `lanes` is h, a group ahead
};

void wipe_vectors(pass_memory::vector* vectors, std::size_t count) noexcept;

// Poly1305 lanes out of the accumulator and back, around passes that authenticate.
void begin_lanes(aead_state& state, pass_memory& memory) noexcept;
void end_lanes(aead_state& state, pass_memory& memory) noexcept;

// One pass: 32 blocks of the key stream from state.cipher's word 12 on, which is advanced.
//   xor_pass       out = in ^ key stream
//   stream_pass    out = key stream
//   first_pass     out = key stream, one block more, which comes first
//   *_mac_pass     the same, and the run at `text` goes into the lanes
void xor_pass(chacha20_words& cipher, pass_memory& memory, const std::uint8_t* in,
              std::uint8_t* out) noexcept;
void stream_pass(chacha20_words& cipher, pass_memory& memory, std::uint8_t* out) noexcept;
void first_pass(chacha20_words& cipher, pass_memory& memory, std::uint8_t* out) noexcept;
void xor_mac_pass(aead_state& state, pass_memory& memory, const std::uint8_t* text,
                  const std::uint8_t* in, std::uint8_t* out) noexcept;
void stream_mac_pass(aead_state& state, pass_memory& memory, const std::uint8_t* text,
                     std::uint8_t* out) noexcept;

// out = 4, 8, 16 or 24 blocks of the key stream.
void rows4(const chacha20_words& cipher, std::uint8_t* out) noexcept;
void rows8(const chacha20_words& cipher, std::uint8_t* out) noexcept;
void rows16(const chacha20_words& cipher, std::uint8_t* out) noexcept;
void rows24(const chacha20_words& cipher, std::uint8_t* out) noexcept;

}  // namespace culvert::crypto::avx512
