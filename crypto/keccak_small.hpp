// Keccak-p[b, n] (FIPS 202 §3.3) for the widths 200, 400, 800 and 1600 bits and any number of
// rounds, portable. For Keccak-f[1600], which the sponges use, see crypto/kernels/keccak.hpp.
#pragma once

#include <array>
#include <bit>

#include "crypto/bytes.hpp"

namespace culvert::crypto {

// Lane is uint8_t, uint16_t, uint32_t or uint64_t: a twenty-fifth of the width. Lane (x, y) is word
// x + 5·y; as bytes each word is little-endian.
template <class Lane>
using keccak_state = std::array<Lane, 25>;

// Rounds of Keccak-f on lanes of this size, 12 + 2·ℓ: 18, 20, 22, 24.
template <class Lane>
inline constexpr unsigned keccak_f_rounds = 12 + 2 * (std::bit_width(8 * sizeof(Lane)) - 1);

// The last `rounds` rounds of Keccak-f; at most keccak_f_rounds.
template <class Lane>
void keccak_p(keccak_state<Lane>& state, unsigned rounds) noexcept;

template <class Lane>
void keccak_f(keccak_state<Lane>& state) noexcept {
    keccak_p(state, keccak_f_rounds<Lane>);
}

extern template void keccak_p(keccak_state<std::uint8_t>& state, unsigned rounds) noexcept;
extern template void keccak_p(keccak_state<std::uint16_t>& state, unsigned rounds) noexcept;
extern template void keccak_p(keccak_state<std::uint32_t>& state, unsigned rounds) noexcept;
extern template void keccak_p(keccak_state<std::uint64_t>& state, unsigned rounds) noexcept;

}  // namespace culvert::crypto
