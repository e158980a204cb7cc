// Keccak-f[1600] with AVX2: 2 to 4 states a pass, one state with BMI2.
//
// Word i holds lane i of every state of the pass, so pi only renames words. 16 registers do not
// hold 25 of them: the state lies on the stack and is an operand from there. A rotate is two shifts
// and an or, but by 8 and 56 bits one byte shuffle.

#include <immintrin.h>

#include <utility>

#include "crypto/kernels/cpu.hpp"
#include "crypto/kernels/keccak_constants.hpp"
#include "crypto/kernels/keccak_x86.hpp"
#include "crypto/kernels/target.hpp"

namespace culvert::crypto {
namespace {

#define KECCAK_PART CULVERT_TARGET_AVX2 CULVERT_PART

using word = __m256i;
constexpr std::size_t width = 4;  // states

// Lane x + 5·y of every state of the pass.
struct state {
    word lane[25];
};

// One word for each of the five columns.
struct columns {
    word of[5];
};

template <int Bits>
KECCAK_PART word rotl(word a) {
    if constexpr (Bits == 0) {
        return a;
    } else if constexpr (Bits == 8) {
        const __m128i up = _mm_setr_epi8(7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14);
        return _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(up));
    } else if constexpr (Bits == 56) {
        const __m128i down = _mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8);
        return _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(down));
    } else {
        return _mm256_or_si256(_mm256_slli_epi64(a, Bits), _mm256_srli_epi64(a, 64 - Bits));
    }
}

KECCAK_PART word xor2(word a, word b) {
    return _mm256_xor_si256(a, b);
}

KECCAK_PART word chi(word a, word b, word c) {
    return xor2(a, _mm256_andnot_si256(b, c));
}

template <std::size_t X>
KECCAK_PART word parity(const state& a) {
    return xor2(xor2(xor2(a.lane[X], a.lane[X + 5]), xor2(a.lane[X + 10], a.lane[X + 15])),
                a.lane[X + 20]);
}

template <std::size_t X>
KECCAK_PART word mixed(const columns& c) {
    return xor2(c.of[(X + 4) % 5], rotl<1>(c.of[(X + 1) % 5]));
}

// What theta xors into each column (FIPS 202 §3.2.1).
KECCAK_PART columns theta(const state& a) {
    const columns c{{parity<0>(a), parity<1>(a), parity<2>(a), parity<3>(a), parity<4>(a)}};
    return {{mixed<0>(c), mixed<1>(c), mixed<2>(c), mixed<3>(c), mixed<4>(c)}};
}

// The end of theta, rho and pi for one lane (§3.2.2, §3.2.3).
template <std::size_t X, std::size_t Y>
KECCAK_PART word moved_lane(const state& a, const columns& d) {
    constexpr std::size_t from = keccak::pi_source(X, Y);
    return rotl<keccak::rotations[from]>(xor2(a.lane[from], d.of[from % 5]));
}

// Row Y after chi (§3.2.4).
template <std::size_t Y>
KECCAK_PART void row(const state& a, const columns& d, state& out) {
    const word b0 = moved_lane<0, Y>(a, d);
    const word b1 = moved_lane<1, Y>(a, d);
    const word b2 = moved_lane<2, Y>(a, d);
    const word b3 = moved_lane<3, Y>(a, d);
    const word b4 = moved_lane<4, Y>(a, d);
    word* to = out.lane + 5 * Y;
    to[0] = chi(b0, b1, b2);
    to[1] = chi(b1, b2, b3);
    to[2] = chi(b2, b3, b4);
    to[3] = chi(b3, b4, b0);
    to[4] = chi(b4, b0, b1);
}

KECCAK_PART void one_round(const state& a, state& out, std::uint64_t constant) {
    const columns d = theta(a);
    row<0>(a, d, out);
    out.lane[0] = xor2(out.lane[0], _mm256_set1_epi64x(static_cast<long long>(constant)));
    row<1>(a, d, out);
    row<2>(a, d, out);
    row<3>(a, d, out);
    row<4>(a, d, out);
}

KECCAK_PART void rounds(state& a) {
    state other;
    for (std::size_t i = 0; i < keccak::round_constants.size(); i += 2) {
        one_round(a, other, keccak::round_constants[i]);
        one_round(other, a, keccak::round_constants[i + 1]);
    }
}

using all_lanes = std::make_index_sequence<25>;

// Four columns of a matrix of `stride` columns.
template <std::size_t... I>
CULVERT_TARGET_AVX2 void permute_full(std::uint64_t* lanes, std::size_t stride,
                                      std::index_sequence<I...>) noexcept {
    state a{{_mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes + I * stride))...}};
    rounds(a);
    (_mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes + I * stride), a.lane[I]), ...);
}

// The first `count` columns, fewer than four; memory beyond them is not touched.
template <std::size_t... I>
CULVERT_TARGET_AVX2 void permute_some(std::uint64_t* lanes, std::size_t stride, std::size_t count,
                                      std::index_sequence<I...>) noexcept {
    const __m256i some = _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(count)),
                                            _mm256_setr_epi64x(0, 1, 2, 3));
    auto* at = reinterpret_cast<long long*>(lanes);
    state a{{_mm256_maskload_epi64(at + I * stride, some)...}};
    rounds(a);
    (_mm256_maskstore_epi64(at + I * stride, some, a.lane[I]), ...);
}

void permute_n(std::uint64_t* lanes, std::size_t states) noexcept {
    std::size_t done = 0;
    for (; states - done >= width; done += width) permute_full(lanes + done, states, all_lanes());
    const std::size_t left = states - done;
    if (left > 1) permute_some(lanes + done, states, left, all_lanes());
    if (left == 1) keccak::permute_column<keccak::permute_bmi2>(lanes, states, done);
}

bool supported() noexcept {
    return cpu().avx2;
}

}  // namespace

constinit const keccak_kernel keccak_avx2{"avx2", supported, keccak::permute_bmi2,
                                          keccak::absorb_blocks<keccak::permute_bmi2>, permute_n};

}  // namespace culvert::crypto
