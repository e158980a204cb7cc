// Keccak-f[1600] with AVX-512VL: 1, 2, 4 or 8 states a pass, all in some 800 cycles, because it is
// the latency of a round that bounds them.
//
// Register i holds lane i of every state of the pass: in the low half of an xmm for one state, in
// an xmm, ymm or zmm for more. So pi only renames registers, rotates are one instruction and so are
// a column's parity of three lanes and chi (vpternlogq): some 90 instructions a round. 25 lanes,
// theta's five words and two copies that chi needs fill the 32 registers when the rows are written
// one by one; CMakeLists.txt has the options without which g++ spills a dozen of them.

#include <immintrin.h>

#include <utility>

#include "crypto/kernels/cpu.hpp"
#include "crypto/kernels/keccak_constants.hpp"
#include "crypto/kernels/keccak_x86.hpp"
#include "crypto/kernels/target.hpp"

namespace culvert::crypto {
namespace {

#define KECCAK_PART CULVERT_TARGET_AVX512VL CULVERT_PART

// Truth tables of vpternlogq.
constexpr int xor_of_three = 0x96;  // a ^ b ^ c
constexpr int chi_of_three = 0xd2;  // a ^ (~b & c)

struct xmm {
    using word = __m128i;

    KECCAK_PART static word load(const std::uint64_t* from) { return _mm_loadu_si128(at(from)); }
    KECCAK_PART static void store(std::uint64_t* to, word a) { _mm_storeu_si128(at(to), a); }
    KECCAK_PART static word all(std::uint64_t a) {
        return _mm_set1_epi64x(static_cast<long long>(a));
    }
    KECCAK_PART static word xor2(word a, word b) { return _mm_xor_si128(a, b); }
    KECCAK_PART static word xor3(word a, word b, word c) {
        return _mm_ternarylogic_epi64(a, b, c, xor_of_three);
    }
    KECCAK_PART static word chi(word a, word b, word c) {
        return _mm_ternarylogic_epi64(a, b, c, chi_of_three);
    }
    template <int Bits>
    KECCAK_PART static word rotl(word a) {
        return _mm_rol_epi64(a, Bits);
    }
    KECCAK_PART static void pin(word& a) { __asm__("" : "+v"(a)); }

  protected:
    static __m128i* at(std::uint64_t* p) { return reinterpret_cast<__m128i*>(p); }
    static const __m128i* at(const std::uint64_t* p) { return reinterpret_cast<const __m128i*>(p); }
};

// One state in the low halves.
struct half_xmm : xmm {
    KECCAK_PART static word load(const std::uint64_t* from) { return _mm_loadl_epi64(at(from)); }
    KECCAK_PART static word load_bytes(const std::uint8_t* from) {
        return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    }
    KECCAK_PART static void store(std::uint64_t* to, word a) { _mm_storel_epi64(at(to), a); }
};

struct ymm {
    using word = __m256i;

    KECCAK_PART static word load(const std::uint64_t* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
    KECCAK_PART static void store(std::uint64_t* to, word a) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a);
    }
    KECCAK_PART static word load_some(const std::uint64_t* from, __mmask8 some) {
        return _mm256_maskz_loadu_epi64(some, from);
    }
    KECCAK_PART static void store_some(std::uint64_t* to, __mmask8 some, word a) {
        _mm256_mask_storeu_epi64(to, some, a);
    }
    KECCAK_PART static word all(std::uint64_t a) {
        return _mm256_set1_epi64x(static_cast<long long>(a));
    }
    KECCAK_PART static word xor2(word a, word b) { return _mm256_xor_si256(a, b); }
    KECCAK_PART static word xor3(word a, word b, word c) {
        return _mm256_ternarylogic_epi64(a, b, c, xor_of_three);
    }
    KECCAK_PART static word chi(word a, word b, word c) {
        return _mm256_ternarylogic_epi64(a, b, c, chi_of_three);
    }
    template <int Bits>
    KECCAK_PART static word rotl(word a) {
        return _mm256_rol_epi64(a, Bits);
    }
    KECCAK_PART static void pin(word& a) { __asm__("" : "+v"(a)); }
};

struct zmm {
    using word = __m512i;

    KECCAK_PART static word load(const std::uint64_t* from) { return _mm512_loadu_si512(from); }
    KECCAK_PART static void store(std::uint64_t* to, word a) { _mm512_storeu_si512(to, a); }
    KECCAK_PART static word load_some(const std::uint64_t* from, __mmask8 some) {
        return _mm512_maskz_loadu_epi64(some, from);
    }
    KECCAK_PART static void store_some(std::uint64_t* to, __mmask8 some, word a) {
        _mm512_mask_storeu_epi64(to, some, a);
    }
    KECCAK_PART static word all(std::uint64_t a) {
        return _mm512_set1_epi64(static_cast<long long>(a));
    }
    KECCAK_PART static word xor2(word a, word b) { return _mm512_xor_si512(a, b); }
    KECCAK_PART static word xor3(word a, word b, word c) {
        return _mm512_ternarylogic_epi64(a, b, c, xor_of_three);
    }
    KECCAK_PART static word chi(word a, word b, word c) {
        return _mm512_ternarylogic_epi64(a, b, c, chi_of_three);
    }
    template <int Bits>
    KECCAK_PART static word rotl(word a) {
        // The form without a mask makes g++ 12 warn of its own header (GCC bug 105593).
        return _mm512_maskz_rol_epi64(0xff, a, Bits);
    }
    KECCAK_PART static void pin(word& a) { __asm__("" : "+v"(a)); }
};

// Lane x + 5·y of every state of the pass.
template <class V>
struct state {
    typename V::word lane[25];
};

// One word for each of the five columns.
template <class V>
struct columns {
    typename V::word of[5];
};

template <class V, std::size_t X>
KECCAK_PART typename V::word parity(const state<V>& a) {
    return V::xor3(V::xor3(a.lane[X], a.lane[X + 5], a.lane[X + 10]), a.lane[X + 15],
                   a.lane[X + 20]);
}

template <class V, std::size_t X>
KECCAK_PART typename V::word mixed(const columns<V>& c) {
    return V::xor2(c.of[(X + 4) % 5], V::template rotl<1>(c.of[(X + 1) % 5]));
}

// What theta xors into each column (FIPS 202 §3.2.1). Pinned: gcc would fold these xors into the
// lanes', as ternaries that need ten words kept instead of five.
template <class V>
KECCAK_PART columns<V> theta(const state<V>& a) {
    const columns<V> c{parity<V, 0>(a), parity<V, 1>(a), parity<V, 2>(a), parity<V, 3>(a),
                       parity<V, 4>(a)};
    columns<V> d{mixed<V, 0>(c), mixed<V, 1>(c), mixed<V, 2>(c), mixed<V, 3>(c), mixed<V, 4>(c)};
    V::pin(d.of[0]);
    V::pin(d.of[1]);
    V::pin(d.of[2]);
    V::pin(d.of[3]);
    V::pin(d.of[4]);
    return d;
}

// The end of theta, rho and pi for one lane (§3.2.2, §3.2.3).
template <class V, std::size_t X, std::size_t Y>
KECCAK_PART typename V::word moved_lane(const state<V>& a, const columns<V>& d) {
    constexpr std::size_t from = keccak::pi_source(X, Y);
    const typename V::word lane = V::xor2(a.lane[from], d.of[from % 5]);
    if constexpr (keccak::rotations[from] == 0) {
        return lane;
    } else {
        return V::template rotl<keccak::rotations[from]>(lane);
    }
}

// Row Y after chi (§3.2.4). The pins keep the rows in this order.
template <class V, std::size_t Y>
KECCAK_PART void row(const state<V>& a, const columns<V>& d, state<V>& out) {
    const typename V::word b0 = moved_lane<V, 0, Y>(a, d);
    const typename V::word b1 = moved_lane<V, 1, Y>(a, d);
    const typename V::word b2 = moved_lane<V, 2, Y>(a, d);
    const typename V::word b3 = moved_lane<V, 3, Y>(a, d);
    const typename V::word b4 = moved_lane<V, 4, Y>(a, d);
    typename V::word* to = out.lane + 5 * Y;
    to[0] = V::chi(b0, b1, b2);
    to[1] = V::chi(b1, b2, b3);
    to[2] = V::chi(b2, b3, b4);
    to[3] = V::chi(b3, b4, b0);
    to[4] = V::chi(b4, b0, b1);
    V::pin(to[0]);
    V::pin(to[1]);
    V::pin(to[2]);
    V::pin(to[3]);
    V::pin(to[4]);
}

template <class V>
KECCAK_PART void rounds(state<V>& a) {
    for (const std::uint64_t constant : keccak::round_constants) {
        const columns<V> d = theta(a);
        state<V> next;
        row<V, 0>(a, d, next);
        next.lane[0] = V::xor2(next.lane[0], V::all(constant));
        row<V, 1>(a, d, next);
        row<V, 2>(a, d, next);
        row<V, 3>(a, d, next);
        row<V, 4>(a, d, next);
        a = next;
    }
}

using all_lanes = std::make_index_sequence<25>;

// As many columns as a word has lanes, of a matrix of `stride` columns.
template <class V, std::size_t... I>
CULVERT_TARGET_AVX512VL void permute_full(std::uint64_t* lanes, std::size_t stride,
                                          std::index_sequence<I...>) noexcept {
    state<V> a{{V::load(lanes + I * stride)...}};
    rounds<V>(a);
    (V::store(lanes + I * stride, a.lane[I]), ...);
}

// The first `count` columns, fewer than that; memory beyond them is not touched.
template <class V, std::size_t... I>
CULVERT_TARGET_AVX512VL void permute_some(std::uint64_t* lanes, std::size_t stride,
                                          std::size_t count, std::index_sequence<I...>) noexcept {
    const auto some = static_cast<__mmask8>((1U << count) - 1);
    state<V> a{{V::load_some(lanes + I * stride, some)...}};
    rounds<V>(a);
    (V::store_some(lanes + I * stride, some, a.lane[I]), ...);
}

void permute_up_to_eight(std::uint64_t* lanes, std::size_t stride, std::size_t count) noexcept {
    switch (count) {
        case 0:
            return;
        case 1:
            return permute_full<half_xmm>(lanes, stride, all_lanes());
        case 2:
            return permute_full<xmm>(lanes, stride, all_lanes());
        case 3:
            return permute_some<ymm>(lanes, stride, count, all_lanes());
        case 4:
            return permute_full<ymm>(lanes, stride, all_lanes());
        case 8:
            return permute_full<zmm>(lanes, stride, all_lanes());
        default:
            return permute_some<zmm>(lanes, stride, count, all_lanes());
    }
}

void permute_n(std::uint64_t* lanes, std::size_t states) noexcept {
    std::size_t done = 0;
    for (; states - done > 8; done += 8) permute_up_to_eight(lanes + done, states, 8);
    permute_up_to_eight(lanes + done, states, states - done);
}

void permute(keccak_lanes& lanes) noexcept {
    permute_full<half_xmm>(lanes.data(), 1, all_lanes());
}

// absorb_blocks with the state kept in registers from block to block, I over all lanes and J over
// those of a block.
template <std::size_t... I, std::size_t... J>
CULVERT_TARGET_AVX512VL void absorb_run(keccak_lanes& lanes, const std::uint8_t* in,
                                        std::size_t blocks, std::index_sequence<I...>,
                                        std::index_sequence<J...>) noexcept {
    using V = half_xmm;
    state<V> a{{V::load(&lanes[I])...}};
    for (; blocks != 0; --blocks, in += 8 * sizeof...(J)) {
        ((a.lane[J] = V::xor2(a.lane[J], V::load_bytes(in + 8 * J))), ...);
        rounds<V>(a);
    }
    (V::store(&lanes[I], a.lane[I]), ...);
}

template <std::size_t Rate>
void absorb_at(keccak_lanes& lanes, const std::uint8_t* in, std::size_t blocks) noexcept {
    absorb_run(lanes, in, blocks, all_lanes(), std::make_index_sequence<Rate / 8>());
}

// The rates of SHAKE and SHA-3 have code of their own.
void absorb_blocks(keccak_lanes& lanes, const std::uint8_t* in, std::size_t rate,
                   std::size_t blocks) noexcept {
    switch (rate) {
        case 168:
            return absorb_at<168>(lanes, in, blocks);
        case 144:
            return absorb_at<144>(lanes, in, blocks);
        case 136:
            return absorb_at<136>(lanes, in, blocks);
        case 104:
            return absorb_at<104>(lanes, in, blocks);
        case 72:
            return absorb_at<72>(lanes, in, blocks);
        default:
            return keccak::absorb_blocks<permute>(lanes, in, rate, blocks);
    }
}

bool supported() noexcept {
    return cpu().avx512vl;
}

}  // namespace

constinit const keccak_kernel keccak_avx512{"avx512", supported, permute, absorb_blocks, permute_n};

}  // namespace culvert::crypto
