// Poly1305 with the 52-bit multiply-add of AVX-512 IFMA: parts for kernels.
//
// Numbers are three limbs of 44 bits (the top one 42), 8 numbers side by side in three vectors.
// 2^132 ≡ 20 (mod 2^130 − 5): what would be limb 3 and 4 comes back 20 times at limb 0 and 1. The
// upper half of a product has weight 2^52 = 2^44 · 2^8, so it is shifted left by 8 into the next
// limb. (Method: Goll and Gueron, "Vectorization of Poly1305 message authentication code".)
//
// A group is 8 blocks of 16 bytes, one a lane, in the order 0 4 1 5 2 6 3 7 in which unpacking
// leaves them. The lanes are 8 accumulators; a group multiplies all of them by r^8, and at the end
// lane j by r^(8 − its block). Between groups H has not been multiplied yet:
//     H ← (…((H · r^8 + M0) · r^8 + M1) …) + Mn−1 = H · r^8n + M0 · r^8(n−1) + … + Mn−1
// so that up to 8 groups need one carry.
//
// Bounds: limbs after a carry are below 2^44 + 2^16, message limbs below 2^44, their sum below
// 2^45; powers below 2^44, 20 times them below 2^49. The low sums of 8 groups stay below
// 24 · 2^52 + 2^45 < 2^57, the high ones below 24 · 2^42.
#pragma once

#include "crypto/kernels/intrinsics.hpp"

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/poly1305_limbs.hpp"
#include "crypto/kernels/target.hpp"

#if CULVERT_X86

namespace culvert::crypto::avx512 {

struct limbs {
    __m512i l0, l1, l2;
};

// Sums of products: by limb, lower and upper halves.
struct sums {
    __m512i low0, low1, low2, high0, high1, high2;
};

// In poly1305_powers::words: five rows (limbs 0, 1, 2, 20 · limb 1, 20 · limb 2) of r^8, r^16 …
// r^64, then five of the lanes' powers r^8, r^4, r^7, r^3, r^6, r^2, r^5, r^1.
inline constexpr std::size_t row = 8;
inline constexpr std::size_t lane_rows = 5 * row;

CULVERT_TARGET_AVX512 CULVERT_PART __m512i words(std::uint64_t word) noexcept {
    return _mm512_set1_epi64(static_cast<long long>(word));
}

CULVERT_TARGET_AVX512 CULVERT_PART void multiply_add(sums& to, const limbs& x, __m512i r0,
                                                     __m512i r1, __m512i r2, __m512i s1,
                                                     __m512i s2) noexcept {
    to.low0 = _mm512_madd52lo_epu64(to.low0, x.l0, r0);
    to.high0 = _mm512_madd52hi_epu64(to.high0, x.l0, r0);
    to.low1 = _mm512_madd52lo_epu64(to.low1, x.l0, r1);
    to.high1 = _mm512_madd52hi_epu64(to.high1, x.l0, r1);
    to.low2 = _mm512_madd52lo_epu64(to.low2, x.l0, r2);
    to.high2 = _mm512_madd52hi_epu64(to.high2, x.l0, r2);
    to.low0 = _mm512_madd52lo_epu64(to.low0, x.l1, s2);
    to.high0 = _mm512_madd52hi_epu64(to.high0, x.l1, s2);
    to.low1 = _mm512_madd52lo_epu64(to.low1, x.l1, r0);
    to.high1 = _mm512_madd52hi_epu64(to.high1, x.l1, r0);
    to.low2 = _mm512_madd52lo_epu64(to.low2, x.l1, r1);
    to.high2 = _mm512_madd52hi_epu64(to.high2, x.l1, r1);
    to.low0 = _mm512_madd52lo_epu64(to.low0, x.l2, s1);
    to.high0 = _mm512_madd52hi_epu64(to.high0, x.l2, s1);
    to.low1 = _mm512_madd52lo_epu64(to.low1, x.l2, s2);
    to.high1 = _mm512_madd52hi_epu64(to.high1, x.l2, s2);
    to.low2 = _mm512_madd52lo_epu64(to.low2, x.l2, r0);
    to.high2 = _mm512_madd52hi_epu64(to.high2, x.l2, r0);
}

CULVERT_TARGET_AVX512 CULVERT_PART sums no_sums() noexcept {
    const __m512i zero = _mm512_setzero_si512();
    return {zero, zero, zero, zero, zero, zero};
}

CULVERT_TARGET_AVX512 CULVERT_PART __m512i five_times(__m512i limb) noexcept {
    return _mm512_add_epi64(limb, _mm512_slli_epi64(limb, 2));
}

// Carries all limbs at once, twice, instead of one limb after the other: fewer in a chain.
CULVERT_TARGET_AVX512 CULVERT_PART limbs carry(__m512i m44, __m512i m42, const sums& s) noexcept {
    const __m512i d0 = s.low0;
    const __m512i d1 = _mm512_add_epi64(s.low1, _mm512_slli_epi64(s.high0, 8));
    const __m512i d2 = _mm512_add_epi64(s.low2, _mm512_slli_epi64(s.high1, 8));
    // high2 << 8 has weight 2^132, four times that of the carry out of limb 2.
    const __m512i top = _mm512_add_epi64(_mm512_slli_epi64(s.high2, 10), _mm512_srli_epi64(d2, 42));
    const __m512i l0 = _mm512_add_epi64(_mm512_and_si512(d0, m44), five_times(top));
    const __m512i l1 = _mm512_add_epi64(_mm512_and_si512(d1, m44), _mm512_srli_epi64(d0, 44));
    const __m512i l2 = _mm512_add_epi64(_mm512_and_si512(d2, m42), _mm512_srli_epi64(d1, 44));
    return {_mm512_add_epi64(_mm512_and_si512(l0, m44), five_times(_mm512_srli_epi64(l2, 42))),
            _mm512_add_epi64(_mm512_and_si512(l1, m44), _mm512_srli_epi64(l0, 44)),
            _mm512_add_epi64(_mm512_and_si512(l2, m42), _mm512_srli_epi64(l1, 44))};
}

CULVERT_TARGET_AVX512 CULVERT_PART limbs carry(const sums& s) noexcept {
    return carry(words(mask44), words(mask42), s);
}

// 20 · limb, for the powers.
CULVERT_TARGET_AVX512 CULVERT_PART __m512i twenty_times(__m512i limb) noexcept {
    return _mm512_slli_epi64(five_times(limb), 2);
}

CULVERT_TARGET_AVX512 CULVERT_PART limbs product(const limbs& x, const limbs& y) noexcept {
    sums s = no_sums();
    multiply_add(s, x, y.l0, y.l1, y.l2, twenty_times(y.l1), twenty_times(y.l2));
    return carry(s);
}

// Lane by lane, blocks from their two words; `bit` is 2^40 where there is a block.
CULVERT_TARGET_AVX512 CULVERT_PART limbs split(__m512i low, __m512i high, __m512i bit) noexcept {
    const __m512i m44 = words(mask44);
    return {_mm512_and_si512(low, m44), _mm512_and_si512(_mm512_shrdi_epi64(low, high, 44), m44),
            _mm512_or_si512(_mm512_srli_epi64(high, 24), bit)};
}

CULVERT_TARGET_AVX512 CULVERT_PART limbs load_group(const std::uint8_t* in) noexcept {
    const __m512i a = _mm512_loadu_si512(in);
    const __m512i b = _mm512_loadu_si512(in + 64);
    return split(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b), words(block_bit));
}

CULVERT_TARGET_AVX512 CULVERT_PART limbs sum(const limbs& x, const limbs& y) noexcept {
    return {_mm512_add_epi64(x.l0, y.l0), _mm512_add_epi64(x.l1, y.l1),
            _mm512_add_epi64(x.l2, y.l2)};
}

// Makes the powers of state.mac.r unless they are there: those of the lanes; all.
void make_lane_powers(aead_state& state) noexcept;
void make_powers(aead_state& state) noexcept;

// The accumulator as limbs, in the lanes of the mask, 0 in the others.
CULVERT_TARGET_AVX512 CULVERT_PART limbs load_accumulator(const poly1305_state& mac,
                                                          __mmask8 lane) noexcept {
    const auto& h = mac.h;
    const std::uint64_t l1 = (h[0] >> 44 | h[1] << 20) & mask44;
    const std::uint64_t l2 = h[1] >> 24 | h[2] << 40;
    return {_mm512_maskz_set1_epi64(lane, static_cast<long long>(h[0] & mask44)),
            _mm512_maskz_set1_epi64(lane, static_cast<long long>(l1)),
            _mm512_maskz_set1_epi64(lane, static_cast<long long>(l2))};
}

// The sum of the lanes.
CULVERT_TARGET_AVX512 CULVERT_PART std::uint64_t total(__m512i v) noexcept {
    return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(v));
}

// The accumulator from lanes that have not been multiplied yet.
CULVERT_TARGET_AVX512 CULVERT_PART void store_accumulator(aead_state& state,
                                                          const limbs& lanes) noexcept {
    const std::uint64_t* power = state.powers.words.data() + lane_rows;
    sums s = no_sums();
    multiply_add(s, lanes, _mm512_load_si512(power), _mm512_load_si512(power + row),
                 _mm512_load_si512(power + 2 * row), _mm512_load_si512(power + 3 * row),
                 _mm512_load_si512(power + 4 * row));
    // Eight lanes of three products each: below 2^57 and, shifted, below 2^56.
    std::uint64_t l0 = total(s.low0);
    std::uint64_t l1 = total(_mm512_add_epi64(s.low1, _mm512_slli_epi64(s.high0, 8)));
    std::uint64_t l2 = total(_mm512_add_epi64(s.low2, _mm512_slli_epi64(s.high1, 8)));
    std::uint64_t top = total(_mm512_slli_epi64(s.high2, 10));
    l1 += l0 >> 44;
    l0 &= mask44;
    l2 += l1 >> 44;
    l1 &= mask44;
    top += l2 >> 42;
    l2 &= mask42;
    l0 += 5 * top;
    l1 += l0 >> 44;
    l0 &= mask44;
    l2 += l1 >> 44;
    l1 &= mask44;
    state.mac.h = {l0 | l1 << 44, l1 >> 20 | l2 << 24, l2 >> 40};
}

}  // namespace culvert::crypto::avx512

#endif
