// Arithmetic mod 2^130 − 5 in 64-bit words.
#pragma once

#include "crypto/kernels/poly1305.hpp"

namespace culvert::crypto::detail {

__extension__ using uint128 = unsigned __int128;

inline std::uint64_t low(uint128 wide) noexcept {
    return static_cast<std::uint64_t>(wide);
}
inline std::uint64_t high(uint128 wide) noexcept {
    return static_cast<std::uint64_t>(wide >> 64);
}

// h += low + high·2^64 + top·2^128, where top is 1 for a whole block and 0 for a padded one.
// h[2] ≤ 4 before, ≤ 6 after.
inline void add_block(poly1305_state& state, std::uint64_t low_word, std::uint64_t high_word,
                      std::uint64_t top) noexcept {
    auto& h = state.h;
    uint128 sum = uint128{h[0]} + low_word;
    h[0] = low(sum);
    sum = uint128{h[1]} + high_word + high(sum);
    h[1] = low(sum);
    h[2] += high(sum) + top;
}

// h = h · r mod 2^130 − 5, not fully reduced: h[2] ≤ 6 before, ≤ 4 after.
//
// r is clamped (RFC 8439 §2.5): both words are below 2^60 and r[1] is a multiple of 4, so that
// 2^128 · r[1] = 2^130 · r[1] / 4 ≡ 5 · r[1] / 4, which is `folded` below 2^61. The sums stay below
// 2^126, the product for h[2] below 2^63.
inline void multiply(poly1305_state& state) noexcept {
    auto& h = state.h;
    const auto& r = state.r;
    const std::uint64_t folded = r[1] + (r[1] >> 2);

    const uint128 d0 = uint128{h[0]} * r[0] + uint128{h[1]} * folded;
    const uint128 d1 = uint128{h[0]} * r[1] + uint128{h[1]} * r[0] + h[2] * folded + high(d0);
    const std::uint64_t d2 = h[2] * r[0] + high(d1);

    // 2^130 ≡ 5: what is above bit 130 comes back five times at the bottom.
    uint128 sum = uint128{low(d0)} + (d2 >> 2) * 5;
    h[0] = low(sum);
    sum = uint128{low(d1)} + high(sum);
    h[1] = low(sum);
    h[2] = (d2 & 3) + high(sum);
}

// Adds and multiplies block after block. In registers: `in` might alias the state.
[[gnu::always_inline]] inline void authenticate_singly(poly1305_state& state,
                                                       const std::uint8_t* in,
                                                       std::size_t blocks) noexcept {
    poly1305_state working = state;
    for (; blocks != 0; --blocks, in += 16) {
        add_block(working, load64_le(in), load64_le(in + 8), 1);
        multiply(working);
    }
    state.h = working.h;
}

// h mod 2^130 − 5 in full. Before, h < 2·(2^130 − 5), so that at most one subtraction is due:
// exactly when h + 5 has the bit 2^130. The choice is made without a branch. h[2] ≤ 3 after.
inline void reduce(poly1305_state& state) noexcept {
    poly1305_state less = state;
    add_block(less, 5, 0, 0);
    const std::uint64_t take = 0 - (less.h[2] >> 2);
    less.h[2] &= 3;
    for (std::size_t i = 0; i < 3; ++i) state.h[i] ^= take & (state.h[i] ^ less.h[i]);
}

}  // namespace culvert::crypto::detail
