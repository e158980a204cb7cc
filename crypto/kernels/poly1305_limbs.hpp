// Numbers mod 2^130 − 5 in three limbs of 44, 44 and 42 bits, scalar: for powers of r.
#pragma once

#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "crypto/kernels/target.hpp"

namespace culvert::crypto {

inline constexpr std::uint64_t mask44 = (std::uint64_t{1} << 44) - 1;
inline constexpr std::uint64_t mask42 = (std::uint64_t{1} << 42) - 1;
inline constexpr std::uint64_t block_bit = std::uint64_t{1} << 40;  // 2^128 in limb 2

// Limbs below 2^44 + 2^17, the top one below 2^43.
struct scalar_limbs {
    std::uint64_t l0, l1, l2;
};

// What others are multiplied by. 2^132 ≡ 20: limbs 3 and 4 of a product come back at 0 and 1.
struct multiplier {
    CULVERT_PART explicit multiplier(const scalar_limbs& r) noexcept
        : l0(r.l0), l1(r.l1), l2(r.l2), s1(20 * r.l1), s2(20 * r.l2) {}
    std::uint64_t l0, l1, l2, s1, s2;
};

// Products not carried yet, each below 2^96 for up to four of them.
struct scalar_sums {
    detail::uint128 d0 = 0, d1 = 0, d2 = 0;
};

CULVERT_PART void add_product(scalar_sums& to, const scalar_limbs& x,
                              const multiplier& y) noexcept {
    using detail::uint128;
    to.d0 += uint128{x.l0} * y.l0 + uint128{x.l1} * y.s2 + uint128{x.l2} * y.s1;
    to.d1 += uint128{x.l0} * y.l1 + uint128{x.l1} * y.l0 + uint128{x.l2} * y.s2;
    to.d2 += uint128{x.l0} * y.l2 + uint128{x.l1} * y.l1 + uint128{x.l2} * y.l0;
}

// sum >> Bits, for sums below 2^(64 + Bits). Two plain shifts: the double one is slow.
template <unsigned Bits>
CULVERT_PART std::uint64_t above(detail::uint128 sum) noexcept {
    return detail::low(sum) >> Bits | detail::high(sum) << (64 - Bits);
}

// Carries in two rounds, all limbs at once, instead of one limb after the other. After the first
// the limbs are below 2^57.
CULVERT_PART scalar_limbs carried(const scalar_sums& s) noexcept {
    const std::uint64_t l0 = (detail::low(s.d0) & mask44) + 5 * above<42>(s.d2);
    const std::uint64_t l1 = (detail::low(s.d1) & mask44) + above<44>(s.d0);
    const std::uint64_t l2 = (detail::low(s.d2) & mask42) + above<44>(s.d1);
    return {(l0 & mask44) + 5 * (l2 >> 42), (l1 & mask44) + (l0 >> 44), (l2 & mask42) + (l1 >> 44)};
}

CULVERT_PART scalar_limbs product(const scalar_limbs& x, const scalar_limbs& y) noexcept {
    scalar_sums s;
    add_product(s, x, multiplier(y));
    return carried(s);
}

CULVERT_PART scalar_limbs limbs_of(std::uint64_t low, std::uint64_t high,
                                   std::uint64_t top) noexcept {
    return {low & mask44, (low >> 44 | high << 20) & mask44, high >> 24 | top << 40};
}

// Limbs below 2^46 as the accumulator's words.
CULVERT_PART void store_limbs(poly1305_state& mac, scalar_limbs h) noexcept {
    h.l1 += h.l0 >> 44;
    h.l0 &= mask44;
    h.l2 += h.l1 >> 44;
    h.l1 &= mask44;
    h.l0 += 5 * (h.l2 >> 42);
    h.l2 &= mask42;
    h.l1 += h.l0 >> 44;
    h.l0 &= mask44;
    // The carry may go on into limb 2 and make it 2^42, which h[2] ≤ 4 allows.
    h.l2 += h.l1 >> 44;
    h.l1 &= mask44;
    mac.h = {h.l0 | h.l1 << 44, h.l1 >> 20 | h.l2 << 24, h.l2 >> 40};
}

}  // namespace culvert::crypto
