// The constants of Keccak-f[1600], and the states that lie in columns, for all its kernels.
#pragma once

#include <array>

#include "crypto/kernels/keccak.hpp"

namespace culvert::crypto::keccak {

// FIPS 202 §3.2.5.
inline constexpr std::array<std::uint64_t, 24> round_constants{
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

// FIPS 202 §3.2.2, by lane x + 5·y.
inline constexpr std::array<int, 25> rotations{
    0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
};

// FIPS 202 §3.2.3: the lane that pi brings to column x of row y.
constexpr std::size_t pi_source(std::size_t x, std::size_t y) noexcept {
    return (x + 3 * y) % 5 + 5 * x;
}

// For kernels that have nothing better for several states than one after the other: permutes
// state `index` of the `states` that permute_n is given.
template <void (*Permute)(keccak_lanes&) noexcept>
void permute_column(std::uint64_t* lanes, std::size_t states, std::size_t index) noexcept {
    keccak_lanes one;
    for (std::size_t i = 0; i < 25; ++i) one[i] = lanes[i * states + index];
    Permute(one);
    for (std::size_t i = 0; i < 25; ++i) lanes[i * states + index] = one[i];
}

// absorb_blocks by way of memory: the state is written after each block.
template <void (*Permute)(keccak_lanes&) noexcept>
void absorb_blocks(keccak_lanes& lanes, const std::uint8_t* in, std::size_t rate,
                   std::size_t blocks) noexcept {
    for (; blocks != 0; --blocks, in += rate) {
        for (std::size_t i = 0; i < rate / 8; ++i) lanes[i] ^= load64_le(in + 8 * i);
        Permute(lanes);
    }
}

}  // namespace culvert::crypto::keccak
