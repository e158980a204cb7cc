// ChaCha20 and Poly1305 in one pass over 2 KiB.
//
// Two sets of 16 blocks: a vector holds one word of 16 blocks. Vector instructions take two cycles,
// so one set alone would leave half of them unused; the sets take turns, half a quarter round of
// all four columns at a time. 32 registers are not enough for both. Words 4 … 15 (rows b, c, d)
// stay in registers, 24 of them, and row a lives in memory, where it is off the critical path: it
// is only ever added to and read.
//
// After each pair of half steps there is room for something else. A pass that authenticates puts a
// quarter of a Poly1305 group there (one limb of the product, or loading the next group): four
// double rounds for 8 groups, the fifth for the carry, twice. The first pass of a message
// puts one more block there, in the form of rows.
//
// The order of the instructions is written out in assembly: g++ 12 spills otherwise. The block
// counter is added up mod 2^32 in 32-bit lanes; no carry reaches word 13.

#include "crypto/kernels/avx512.hpp"
#include "crypto/kernels/avx512_poly1305.hpp"
#include "crypto/secret.hpp"

#if CULVERT_X86

namespace culvert::crypto::avx512 {
namespace {

// Rows b, c and d of one set, four words each.
struct set {
    __m512i b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3;
};

using row_a = std::array<pass_memory::vector, 4>;

// a += b; d = (d ^ a) <<< bits, for the four columns.
#define CULVERT_STEP_AD(bits, a, b0, b1, b2, b3, d0, d1, d2, d3)                      \
    __asm__ volatile(                                                                 \
        "vpaddd (%[m]), %[w0], %[t0]\n\tvpaddd 64(%[m]), %[w1], %[t1]\n\t"            \
        "vmovdqa64 %[t0], (%[m])\n\tvmovdqa64 %[t1], 64(%[m])\n\t"                    \
        "vpxord %[t0], %[x0], %[x0]\n\tvpxord %[t1], %[x1], %[x1]\n\t"                \
        "vpaddd 128(%[m]), %[w2], %[t0]\n\tvpaddd 192(%[m]), %[w3], %[t1]\n\t"        \
        "vprold $" #bits ", %[x0], %[x0]\n\tvprold $" #bits                           \
        ", %[x1], %[x1]\n\t"                                                          \
        "vmovdqa64 %[t0], 128(%[m])\n\tvmovdqa64 %[t1], 192(%[m])\n\t"                \
        "vpxord %[t0], %[x2], %[x2]\n\tvpxord %[t1], %[x3], %[x3]\n\t"                \
        "vprold $" #bits ", %[x2], %[x2]\n\tvprold $" #bits ", %[x3], %[x3]"          \
        : [x0] "+v"(d0), [x1] "+v"(d1), [x2] "+v"(d2), [x3] "+v"(d3), [t0] "=&v"(t0), \
          [t1] "=&v"(t1), "+m"(a)                                                     \
        : [m] "r"(&(a)), [w0] "v"(b0), [w1] "v"(b1), [w2] "v"(b2), [w3] "v"(b3))

// c += d; b = (b ^ c) <<< bits.
#define CULVERT_STEP_CB(bits, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3)        \
    __asm__ volatile(                                                                \
        "vpaddd %[w0], %[y0], %[y0]\n\tvpaddd %[w1], %[y1], %[y1]\n\t"               \
        "vpaddd %[w2], %[y2], %[y2]\n\tvpaddd %[w3], %[y3], %[y3]\n\t"               \
        "vpxord %[y0], %[x0], %[x0]\n\tvpxord %[y1], %[x1], %[x1]\n\t"               \
        "vpxord %[y2], %[x2], %[x2]\n\tvpxord %[y3], %[x3], %[x3]\n\t"               \
        "vprold $" #bits ", %[x0], %[x0]\n\tvprold $" #bits                          \
        ", %[x1], %[x1]\n\t"                                                         \
        "vprold $" #bits ", %[x2], %[x2]\n\tvprold $" #bits ", %[x3], %[x3]"         \
        : [x0] "+v"(b0), [x1] "+v"(b1), [x2] "+v"(b2), [x3] "+v"(b3), [y0] "+v"(c0), \
          [y1] "+v"(c1), [y2] "+v"(c2), [y3] "+v"(c3)                                \
        : [w0] "v"(d0), [w1] "v"(d1), [w2] "v"(d2), [w3] "v"(d3))

// A double round of both sets; slot(0) … slot(7) stand between the half steps.
template <class Slot>
CULVERT_TARGET_AVX512 CULVERT_PART void double_round(set& x, set& y, row_a& ax, row_a& ay,
                                                     Slot& slot) noexcept {
    __m512i t0, t1;
#define CULVERT_BOTH_AD(bits, b0, b1, b2, b3, d0, d1, d2, d3)                  \
    CULVERT_STEP_AD(bits, ax, x.b0, x.b1, x.b2, x.b3, x.d0, x.d1, x.d2, x.d3); \
    CULVERT_STEP_AD(bits, ay, y.b0, y.b1, y.b2, y.b3, y.d0, y.d1, y.d2, y.d3)
#define CULVERT_BOTH_CB(bits, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3)                      \
    CULVERT_STEP_CB(bits, x.b0, x.b1, x.b2, x.b3, x.c0, x.c1, x.c2, x.c3, x.d0, x.d1, x.d2, x.d3); \
    CULVERT_STEP_CB(bits, y.b0, y.b1, y.b2, y.b3, y.c0, y.c1, y.c2, y.c3, y.d0, y.d1, y.d2, y.d3)
    CULVERT_BOTH_AD(16, b0, b1, b2, b3, d0, d1, d2, d3);
    slot.template at<0>();
    CULVERT_BOTH_CB(12, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3);
    slot.template at<1>();
    CULVERT_BOTH_AD(8, b0, b1, b2, b3, d0, d1, d2, d3);
    slot.template at<2>();
    CULVERT_BOTH_CB(7, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3);
    slot.template at<3>();
    CULVERT_BOTH_AD(16, b1, b2, b3, b0, d3, d0, d1, d2);
    slot.template at<4>();
    CULVERT_BOTH_CB(12, b1, b2, b3, b0, c2, c3, c0, c1, d3, d0, d1, d2);
    slot.template at<5>();
    CULVERT_BOTH_AD(8, b1, b2, b3, b0, d3, d0, d1, d2);
    slot.template at<6>();
    CULVERT_BOTH_CB(7, b1, b2, b3, b0, c2, c3, c0, c1, d3, d0, d1, d2);
    slot.template at<7>();
#undef CULVERT_BOTH_AD
#undef CULVERT_BOTH_CB
}

struct nothing {
    template <int Slot>
    CULVERT_PART void at() noexcept {}
};

// Limb L of x · r, added to the sums in memory. The operands are the offsets of what x's limbs 0,
// 1, 2 are multiplied by, in rows of 64 bytes.
#define CULVERT_MULTIPLY(limb, by0, by1, by2)                                                \
    __asm__ volatile(                                                                        \
        "vmovdqa64 " #limb "*64(%[s]), %[low]\n\tvmovdqa64 (" #limb                          \
        "+3)*64(%[s]), %[high]\n\t"                                                          \
        "vpmadd52luq " #by0                                                                  \
        "*64(%[r])%{1to8%}, %[x0], %[low]\n\t"                                               \
        "vpmadd52huq " #by0                                                                  \
        "*64(%[r])%{1to8%}, %[x0], %[high]\n\t"                                              \
        "vpmadd52luq " #by1                                                                  \
        "*64(%[r])%{1to8%}, %[x1], %[low]\n\t"                                               \
        "vpmadd52huq " #by1                                                                  \
        "*64(%[r])%{1to8%}, %[x1], %[high]\n\t"                                              \
        "vpmadd52luq " #by2                                                                  \
        "*64(%[r])%{1to8%}, %[x2], %[low]\n\t"                                               \
        "vpmadd52huq " #by2                                                                  \
        "*64(%[r])%{1to8%}, %[x2], %[high]\n\t"                                              \
        "vmovdqa64 %[low], " #limb "*64(%[s])\n\tvmovdqa64 %[high], (" #limb "+3)*64(%[s])"  \
        : [low] "=&v"(low), [high] "=&v"(high), "+m"(*sums_)                                 \
        : [s] "r"(sums_), [r] "r"(power), [x0] "v"(x_.l0), [x1] "v"(x_.l1), [x2] "v"(x_.l2), \
          "m"(*powers_))

// Limb 0, in registers.
#define CULVERT_MULTIPLY_0                                  \
    __asm__ volatile(                                       \
        "vpmadd52luq (%[r])%{1to8%}, %[x0], %[low]\n\t"     \
        "vpmadd52huq (%[r])%{1to8%}, %[x0], %[high]\n\t"    \
        "vpmadd52luq 256(%[r])%{1to8%}, %[x1], %[low]\n\t"  \
        "vpmadd52huq 256(%[r])%{1to8%}, %[x1], %[high]\n\t" \
        "vpmadd52luq 192(%[r])%{1to8%}, %[x2], %[low]\n\t"  \
        "vpmadd52huq 192(%[r])%{1to8%}, %[x2], %[high]"     \
        : [low] "+v"(low0_), [high] "+v"(high0_)            \
        : [r] "r"(power), [x0] "v"(x_.l0), [x1] "v"(x_.l1), [x2] "v"(x_.l2), "m"(*powers_))

// Constants in memory: in a register they would take the place of something.
alignas(8) constexpr std::uint64_t low_bits = mask44;
alignas(8) constexpr std::uint64_t top_bits = mask42;
alignas(8) constexpr std::uint64_t above_block = block_bit;

// As load_group(), with no registers but those of the result.
CULVERT_TARGET_AVX512 CULVERT_PART void load_group_tightly(limbs& x,
                                                           const std::uint8_t* in) noexcept {
    __asm__ volatile(
        "vmovdqu64 (%[in]), %[x2]\n\t"
        "vpunpcklqdq 64(%[in]), %[x2], %[x0]\n\tvpunpckhqdq 64(%[in]), %[x2], %[x2]\n\t"
        "vpshrdq $44, %[x2], %[x0], %[x1]\n\tvpsrlq $24, %[x2], %[x2]\n\t"
        "vpandq %[mask]%{1to8%}, %[x0], %[x0]\n\tvpandq %[mask]%{1to8%}, %[x1], %[x1]\n\t"
        "vporq %[bit]%{1to8%}, %[x2], %[x2]"
        : [x0] "=&v"(x.l0), [x1] "=&v"(x.l1), [x2] "=&v"(x.l2)
        : [in] "r"(in), [mask] "m"(low_bits), [bit] "m"(above_block),
          "m"(*reinterpret_cast<const std::uint8_t(*)[128]>(in)));
}

// A constant that is not kept for later.
CULVERT_TARGET_AVX512 CULVERT_PART __m512i once(const std::uint64_t& word) noexcept {
    __m512i vector;
    __asm__ volatile("vpbroadcastq %[word], %[vector]" : [vector] "=v"(vector) : [word] "m"(word));
    return vector;
}

// Authenticates a run, 16 groups, in two halves of 8.
class mac_slots {
  public:
    CULVERT_TARGET_AVX512 CULVERT_PART mac_slots(const poly1305_powers& powers, pass_memory& memory,
                                                 const std::uint8_t* text) noexcept
        : powers_(&powers.words), sums_(&memory.sums), text_(text) {
        load_lanes(memory);
        begin_half();
        // h belongs to the first group, so it is multiplied once less than lanes would be.
        if (memory.fresh) --even_;
        memory.fresh = false;
    }

    template <int Slot>
    CULVERT_TARGET_AVX512 CULVERT_PART void at() noexcept {
        __m512i low, high;
        const std::uint64_t* power = Slot < 4 ? even_ : odd_;
        if constexpr (Slot % 4 == 0) CULVERT_MULTIPLY_0;
        if constexpr (Slot % 4 == 1) CULVERT_MULTIPLY(1, 1, 0, 4);
        if constexpr (Slot % 4 == 2) CULVERT_MULTIPLY(2, 2, 1, 0);
        if constexpr (Slot % 4 == 3) load_group_tightly(x_, text_ + (Slot < 4 ? 0 : 128));
        if constexpr (Slot == 7) {
            text_ += 256;
            const std::uint64_t* last = odd_;
            even_ = last - 1;
            odd_ = last - 2;
        }
    }

    CULVERT_TARGET_AVX512 CULVERT_PART void begin_half() noexcept {
        even_ = powers_->data() + 7;
        odd_ = powers_->data() + 6;
        low0_ = high0_ = _mm512_setzero_si512();
        for (auto& sum : *sums_) _mm512_store_si512(sum.data(), _mm512_setzero_si512());
    }
    CULVERT_TARGET_AVX512 CULVERT_PART void end_half() noexcept {
        const auto& s = *sums_;
        x_ = carry(once(low_bits), once(top_bits),
                   {_mm512_add_epi64(x_.l0, low0_),
                    _mm512_add_epi64(x_.l1, _mm512_load_si512(s[1].data())),
                    _mm512_add_epi64(x_.l2, _mm512_load_si512(s[2].data())), high0_,
                    _mm512_load_si512(s[4].data()), _mm512_load_si512(s[5].data())});
    }
    CULVERT_TARGET_AVX512 CULVERT_PART void store_lanes(pass_memory& memory) noexcept {
        _mm512_store_si512(memory.lanes[0].data(), x_.l0);
        _mm512_store_si512(memory.lanes[1].data(), x_.l1);
        _mm512_store_si512(memory.lanes[2].data(), x_.l2);
    }

  private:
    CULVERT_TARGET_AVX512 CULVERT_PART void load_lanes(const pass_memory& memory) noexcept {
        x_.l0 = _mm512_load_si512(memory.lanes[0].data());
        x_.l1 = _mm512_load_si512(memory.lanes[1].data());
        x_.l2 = _mm512_load_si512(memory.lanes[2].data());
    }

    const std::array<std::uint64_t, 80>* powers_;
    std::array<pass_memory::vector, 6>* sums_;
    const std::uint8_t* text_;
    const std::uint64_t* even_;
    const std::uint64_t* odd_;
    limbs x_;
    __m512i low0_, high0_;
};

// One block as four rows, for the first pass.
class row_slots {
  public:
    CULVERT_TARGET_AVX512 CULVERT_PART explicit row_slots(const chacha20_words& cipher) noexcept
        : a_(load(cipher, 0)), b_(load(cipher, 4)), c_(load(cipher, 8)), d_(load(cipher, 12)) {}

    template <int Slot>
    CULVERT_TARGET_AVX512 CULVERT_PART void at() noexcept {
        if constexpr (Slot % 2 == 0) {
            a_ = _mm_add_epi32(a_, b_);
            d_ = _mm_rol_epi32(_mm_xor_si128(d_, a_), Slot % 4 == 0 ? 16 : 8);
        } else {
            c_ = _mm_add_epi32(c_, d_);
            b_ = _mm_rol_epi32(_mm_xor_si128(b_, c_), Slot % 4 == 1 ? 12 : 7);
        }
        if constexpr (Slot == 3) turn<0x39, 0x93>();
        if constexpr (Slot == 7) turn<0x93, 0x39>();
    }

    CULVERT_TARGET_AVX512 CULVERT_PART void store(const chacha20_words& cipher,
                                                  std::uint8_t* out) noexcept {
        auto* to = reinterpret_cast<__m128i*>(out);
        _mm_storeu_si128(to, _mm_add_epi32(a_, load(cipher, 0)));
        _mm_storeu_si128(to + 1, _mm_add_epi32(b_, load(cipher, 4)));
        _mm_storeu_si128(to + 2, _mm_add_epi32(c_, load(cipher, 8)));
        _mm_storeu_si128(to + 3, _mm_add_epi32(d_, load(cipher, 12)));
    }

  private:
    CULVERT_TARGET_AVX512 CULVERT_PART static __m128i load(const chacha20_words& cipher,
                                                           std::size_t word) noexcept {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(cipher.data() + word));
    }
    template <int B, int D>
    CULVERT_TARGET_AVX512 CULVERT_PART void turn() noexcept {
        b_ = _mm_shuffle_epi32(b_, B);
        c_ = _mm_shuffle_epi32(c_, 0x4e);
        d_ = _mm_shuffle_epi32(d_, D);
    }

    __m128i a_, b_, c_, d_;
};

CULVERT_TARGET_AVX512 CULVERT_PART __m512i spread(std::uint32_t word) noexcept {
    return _mm512_set1_epi32(static_cast<int>(word));
}

CULVERT_TARGET_AVX512 CULVERT_PART __m512i counters(const chacha20_words& cipher,
                                                    std::uint32_t ahead) noexcept {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_add_epi32(spread(cipher[12] + ahead), lanes);
}

CULVERT_TARGET_AVX512 CULVERT_PART void begin(set& s, row_a& a, const chacha20_words& cipher,
                                              std::uint32_t ahead) noexcept {
    for (std::size_t i = 0; i < 4; ++i) _mm512_store_si512(a[i].data(), spread(cipher[i]));
    s.b0 = spread(cipher[4]);
    s.b1 = spread(cipher[5]);
    s.b2 = spread(cipher[6]);
    s.b3 = spread(cipher[7]);
    s.c0 = spread(cipher[8]);
    s.c1 = spread(cipher[9]);
    s.c2 = spread(cipher[10]);
    s.c3 = spread(cipher[11]);
    s.d0 = counters(cipher, ahead);
    s.d1 = spread(cipher[13]);
    s.d2 = spread(cipher[14]);
    s.d3 = spread(cipher[15]);
}

// Four words of 16 blocks; afterwards v0 holds them of blocks 0, 4, 8, 12, v1 of 1, 5, 9, 13, ….
CULVERT_TARGET_AVX512 CULVERT_PART void unpack(__m512i& v0, __m512i& v1, __m512i& v2,
                                               __m512i& v3) noexcept {
    const __m512i low01 = _mm512_unpacklo_epi32(v0, v1);
    const __m512i high01 = _mm512_unpackhi_epi32(v0, v1);
    const __m512i low23 = _mm512_unpacklo_epi32(v2, v3);
    const __m512i high23 = _mm512_unpackhi_epi32(v2, v3);
    v0 = _mm512_unpacklo_epi64(low01, low23);
    v1 = _mm512_unpackhi_epi64(low01, low23);
    v2 = _mm512_unpacklo_epi64(high01, high23);
    v3 = _mm512_unpackhi_epi64(high01, high23);
}

// Where a pass puts its key stream.
struct to_stream {
    std::uint8_t* out;
    CULVERT_TARGET_AVX512 CULVERT_PART void put(std::size_t block, __m512i stream) const noexcept {
        _mm512_storeu_si512(out + 64 * block, stream);
    }
};
struct to_text {
    const std::uint8_t* in;
    std::uint8_t* out;
    CULVERT_TARGET_AVX512 CULVERT_PART void put(std::size_t block, __m512i stream) const noexcept {
        const __m512i text = _mm512_loadu_si512(in + 64 * block);
        _mm512_storeu_si512(out + 64 * block, _mm512_xor_si512(text, stream));
    }
};

// Blocks k, k + 4, k + 8, k + 12 from their rows.
template <class Sink>
CULVERT_TARGET_AVX512 CULVERT_PART void put_blocks(const Sink& sink, std::size_t k, __m512i a,
                                                   __m512i b, __m512i c, __m512i d) noexcept {
    const __m512i ab_low = _mm512_shuffle_i32x4(a, b, 0x44);
    const __m512i ab_high = _mm512_shuffle_i32x4(a, b, 0xee);
    const __m512i cd_low = _mm512_shuffle_i32x4(c, d, 0x44);
    const __m512i cd_high = _mm512_shuffle_i32x4(c, d, 0xee);
    sink.put(k, _mm512_shuffle_i32x4(ab_low, cd_low, 0x88));
    sink.put(k + 4, _mm512_shuffle_i32x4(ab_low, cd_low, 0xdd));
    sink.put(k + 8, _mm512_shuffle_i32x4(ab_high, cd_high, 0x88));
    sink.put(k + 12, _mm512_shuffle_i32x4(ab_high, cd_high, 0xdd));
}

template <class Sink>
CULVERT_TARGET_AVX512 CULVERT_PART void finish(set& s, const row_a& a, const chacha20_words& cipher,
                                               std::uint32_t ahead, const Sink& sink) noexcept {
    const auto& w = cipher;
    __m512i a0 = _mm512_add_epi32(_mm512_load_si512(a[0].data()), spread(w[0]));
    __m512i a1 = _mm512_add_epi32(_mm512_load_si512(a[1].data()), spread(w[1]));
    __m512i a2 = _mm512_add_epi32(_mm512_load_si512(a[2].data()), spread(w[2]));
    __m512i a3 = _mm512_add_epi32(_mm512_load_si512(a[3].data()), spread(w[3]));
    unpack(a0, a1, a2, a3);
    s.b0 = _mm512_add_epi32(s.b0, spread(w[4]));
    s.b1 = _mm512_add_epi32(s.b1, spread(w[5]));
    s.b2 = _mm512_add_epi32(s.b2, spread(w[6]));
    s.b3 = _mm512_add_epi32(s.b3, spread(w[7]));
    unpack(s.b0, s.b1, s.b2, s.b3);
    s.c0 = _mm512_add_epi32(s.c0, spread(w[8]));
    s.c1 = _mm512_add_epi32(s.c1, spread(w[9]));
    s.c2 = _mm512_add_epi32(s.c2, spread(w[10]));
    s.c3 = _mm512_add_epi32(s.c3, spread(w[11]));
    unpack(s.c0, s.c1, s.c2, s.c3);
    s.d0 = _mm512_add_epi32(s.d0, counters(w, ahead));
    s.d1 = _mm512_add_epi32(s.d1, spread(w[13]));
    s.d2 = _mm512_add_epi32(s.d2, spread(w[14]));
    s.d3 = _mm512_add_epi32(s.d3, spread(w[15]));
    unpack(s.d0, s.d1, s.d2, s.d3);
    put_blocks(sink, 0, a0, s.b0, s.c0, s.d0);
    put_blocks(sink, 1, a1, s.b1, s.c1, s.d1);
    put_blocks(sink, 2, a2, s.b2, s.c2, s.d2);
    put_blocks(sink, 3, a3, s.b3, s.c3, s.d3);
}

CULVERT_TARGET_AVX512 CULVERT_PART to_stream second_half(const to_stream& sink) noexcept {
    return {sink.out + 1024};
}
CULVERT_TARGET_AVX512 CULVERT_PART to_text second_half(const to_text& sink) noexcept {
    return {sink.in + 1024, sink.out + 1024};
}

template <class Rounds, class Sink>
CULVERT_TARGET_AVX512 CULVERT_PART void pass(chacha20_words& cipher, pass_memory& memory,
                                             Rounds rounds, const Sink& sink) noexcept {
    auto* rows = reinterpret_cast<row_a*>(memory.row_a.data());
    set x, y;
    begin(x, rows[0], cipher, 0);
    begin(y, rows[1], cipher, 16);
    rounds(x, y, rows[0], rows[1]);
    finish(x, rows[0], cipher, 0, sink);
    finish(y, rows[1], cipher, 16, second_half(sink));
    cipher[12] += 32;
}

struct plain_rounds {
    CULVERT_TARGET_AVX512 CULVERT_PART void operator()(set& x, set& y, row_a& ax,
                                                       row_a& ay) noexcept {
        nothing slots;
        for (int i = 0; i < 10; ++i) double_round(x, y, ax, ay, slots);
    }
};

struct first_rounds {
    row_slots& slots;
    CULVERT_TARGET_AVX512 CULVERT_PART void operator()(set& x, set& y, row_a& ax,
                                                       row_a& ay) noexcept {
        for (int i = 0; i < 10; ++i) double_round(x, y, ax, ay, slots);
    }
};

struct mac_rounds {
    const poly1305_powers& powers;
    pass_memory& memory;
    const std::uint8_t* text;
    CULVERT_TARGET_AVX512 CULVERT_PART void operator()(set& x, set& y, row_a& ax,
                                                       row_a& ay) noexcept {
        mac_slots slots(powers, memory, text);
        nothing empty;
        for (int half = 0; half < 2; ++half) {
            for (int i = 0; i < 4; ++i) double_round(x, y, ax, ay, slots);
            slots.end_half();
            slots.begin_half();
            double_round(x, y, ax, ay, empty);
        }
        slots.store_lanes(memory);
    }
};

}  // namespace

[[gnu::noinline]] CULVERT_TARGET_AVX512 void xor_pass(chacha20_words& cipher, pass_memory& memory,
                                                      const std::uint8_t* in,
                                                      std::uint8_t* out) noexcept {
    pass(cipher, memory, plain_rounds{}, to_text{in, out});
}

[[gnu::noinline]] CULVERT_TARGET_AVX512 void stream_pass(chacha20_words& cipher,
                                                         pass_memory& memory,
                                                         std::uint8_t* out) noexcept {
    pass(cipher, memory, plain_rounds{}, to_stream{out});
}

[[gnu::noinline]] CULVERT_TARGET_AVX512 void first_pass(chacha20_words& cipher, pass_memory& memory,
                                                        std::uint8_t* out) noexcept {
    wiped<chacha20_words> block;
    *block = cipher;
    row_slots slots(*block);
    ++cipher[12];
    pass(cipher, memory, first_rounds{slots}, to_stream{out + 64});
    slots.store(*block, out);
}

[[gnu::noinline]] CULVERT_TARGET_AVX512 void xor_mac_pass(aead_state& state, pass_memory& memory,
                                                          const std::uint8_t* text,
                                                          const std::uint8_t* in,
                                                          std::uint8_t* out) noexcept {
    pass(state.cipher, memory, mac_rounds{state.powers, memory, text}, to_text{in, out});
}

[[gnu::noinline]] CULVERT_TARGET_AVX512 void stream_mac_pass(aead_state& state, pass_memory& memory,
                                                             const std::uint8_t* text,
                                                             std::uint8_t* out) noexcept {
    pass(state.cipher, memory, mac_rounds{state.powers, memory, text}, to_stream{out});
}

CULVERT_TARGET_AVX512 void wipe_vectors(pass_memory::vector* vectors, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        _mm512_store_si512(vectors[i].data(), _mm512_setzero_si512());
    }
    // The compiler must believe that somebody looks at it.
    __asm__ volatile("" : : "r"(vectors) : "memory");
}

CULVERT_TARGET_AVX512 void begin_lanes(aead_state& state, pass_memory& memory) noexcept {
    make_powers(state);
    const limbs h = load_accumulator(state.mac, 1);
    _mm512_store_si512(memory.lanes[0].data(), h.l0);
    _mm512_store_si512(memory.lanes[1].data(), h.l1);
    _mm512_store_si512(memory.lanes[2].data(), h.l2);
    memory.fresh = true;
}

CULVERT_TARGET_AVX512 void end_lanes(aead_state& state, pass_memory& memory) noexcept {
    if (memory.fresh) return;
    store_accumulator(state, {_mm512_load_si512(memory.lanes[0].data()),
                              _mm512_load_si512(memory.lanes[1].data()),
                              _mm512_load_si512(memory.lanes[2].data())});
}

}  // namespace culvert::crypto::avx512

#endif
