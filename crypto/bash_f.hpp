// bash-f (STB 34.101.77-2020 §6), the permutation of 1536 bits, portable.
#pragma once

#include <array>

#include "crypto/bytes.hpp"

namespace culvert::crypto {

// S0 … S23 as integers, whose bytes are little-endian.
using bash_words = std::array<std::uint64_t, 24>;

void bash_f(bash_words& words) noexcept;

// The amounts by which bash-s rotates.
struct bash_rotations {
    int m1, n1, m2, n2;
};

// bash-s (§6.1): the part of a round that works on three words, one of each third of the state.
void bash_s(std::uint64_t& w0, std::uint64_t& w1, std::uint64_t& w2,
            const bash_rotations& by) noexcept;

}  // namespace culvert::crypto
