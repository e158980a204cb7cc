// Ascon-p (NIST SP 800-232 §3), the permutation of 320 bits, portable.
#pragma once

#include <array>

#include "crypto/bytes.hpp"

namespace culvert::crypto {

// S0 … S4 as integers; in the modes of SP 800-232 their bytes are little-endian.
using ascon_words = std::array<std::uint64_t, 5>;

// The last `Rounds` of the twelve rounds.
template <unsigned Rounds>
requires(Rounds == 6 || Rounds == 8 || Rounds == 12) void ascon_p(ascon_words& words) noexcept;

}  // namespace culvert::crypto
