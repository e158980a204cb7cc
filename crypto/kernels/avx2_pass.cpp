// ChaCha20 and Poly1305 in one pass over 1 KiB, for AVX2.
//
// Two sets of 8 blocks: a vector holds one word of 8 blocks. In a quarter round words a and c are
// only sums; what the time depends on goes back and forth between b and d. So rows a and c live in
// memory, rows b and d in registers, and the 16 registers hold both sets but for one word, which
// makes room for one temporary. The sets take turns by half steps, as the vector units take two
// cycles for an instruction.
//
// Poly1305 runs in the scalar units, two blocks after each pair of half steps: one of the first
// half of the text and one of the second, in two chains that are joined at the end:
//     h ← h_first · r^32 + h_second
//
// The order of the vector instructions is written out in assembly: g++ 12 spills otherwise. The
// block counter is added up mod 2^32 in 32-bit lanes; no carry reaches word 13.

#include "crypto/kernels/avx2.hpp"

#include <cstddef>

#include "crypto/kernels/intrinsics.hpp"
#include "crypto/kernels/poly1305_chains.hpp"
#include "crypto/kernels/poly1305_mulx.hpp"

#if CULVERT_X86

namespace culvert::crypto::avx2 {
namespace {

// Rows b and d of one set; the last word of the second set is in memory.
struct set {
    __m256i b0, b1, b2, b3, d0, d1, d2, d3;
};

using memory_set = pass_memory::set;

// Offsets in pass_memory.
#define CULVERT_XA "0"
#define CULVERT_XC "128"
#define CULVERT_YA "256"
#define CULVERT_YC "384"
#define CULVERT_LAST "512"
static_assert(offsetof(pass_memory, x.c) == 128 && offsetof(pass_memory, y.a) == 256);
static_assert(offsetof(pass_memory, y.c) == 384 && offsetof(pass_memory, last) == 512);
static_assert(offsetof(pass_memory, rotate16) == 544 && offsetof(pass_memory, rotate8) == 576);

// a += b; d = (d ^ a) <<< 16 or 8, column i.
#define CULVERT_AD(a, i, b, d, shuffle)                                                \
    __asm__ volatile("vpaddd " a "+32*" #i                                             \
                     "(%[m]), %[x], %[t]\n\t"                                          \
                     "vmovdqa %[t], " a "+32*" #i                                      \
                     "(%[m])\n\t"                                                      \
                     "vpxor %[t], %[y], %[y]\n\tvpshufb " shuffle "(%[m]), %[y], %[y]" \
                     : [y] "+x"(d), [t] "=&x"(t), "+m"(m)                              \
                     : [x] "x"(b), [m] "r"(&m))

// The same with d, the last word, in memory.
#define CULVERT_AD_LAST(a, i, b, shuffle)                   \
    __asm__ volatile("vpaddd " a "+32*" #i                  \
                     "(%[m]), %[x], %[t]\n\t"               \
                     "vmovdqa %[t], " a "+32*" #i           \
                     "(%[m])\n\t"                           \
                     "vpxor " CULVERT_LAST                  \
                     "(%[m]), %[t], %[t]\n\t"               \
                     "vpshufb " shuffle                     \
                     "(%[m]), %[t], %[t]\n\t"               \
                     "vmovdqa %[t], " CULVERT_LAST "(%[m])" \
                     : [t] "=&x"(t), "+m"(m)                \
                     : [x] "x"(b), [m] "r"(&m))

// c += d; b = (b ^ c) <<< up, where down is 32 − up.
#define CULVERT_CB(c, i, b, d, up, down)                                      \
    __asm__ volatile("vpaddd " c "+32*" #i                                    \
                     "(%[m]), %[y], %[t]\n\t"                                 \
                     "vmovdqa %[t], " c "+32*" #i                             \
                     "(%[m])\n\t"                                             \
                     "vpxor %[t], %[x], %[x]\n\tvpslld $" #up                 \
                     ", %[x], %[t]\n\t"                                       \
                     "vpsrld $" #down ", %[x], %[x]\n\tvpor %[t], %[x], %[x]" \
                     : [x] "+x"(b), [t] "=&x"(t), "+m"(m)                     \
                     : [y] "x"(d), [m] "r"(&m))

#define CULVERT_CB_LAST(c, i, b, up, down)                                    \
    __asm__ volatile("vmovdqa " CULVERT_LAST                                  \
                     "(%[m]), %[t]\n\t"                                       \
                     "vpaddd " c "+32*" #i                                    \
                     "(%[m]), %[t], %[t]\n\t"                                 \
                     "vmovdqa %[t], " c "+32*" #i                             \
                     "(%[m])\n\t"                                             \
                     "vpxor %[t], %[x], %[x]\n\tvpslld $" #up                 \
                     ", %[x], %[t]\n\t"                                       \
                     "vpsrld $" #down ", %[x], %[x]\n\tvpor %[t], %[x], %[x]" \
                     : [x] "+x"(b), [t] "=&x"(t), "+m"(m)                     \
                     : [m] "r"(&m))

// A double round of both sets; the slot stands four times between the half steps.
template <class Slot>
CULVERT_TARGET_AVX2 CULVERT_PART void double_round(set& x, set& y, pass_memory& m,
                                                   Slot& slot) noexcept {
    __m256i t;
#define CULVERT_COLUMNS(shuffle, up, down)           \
    CULVERT_AD(CULVERT_XA, 0, x.b0, x.d0, shuffle);  \
    CULVERT_AD(CULVERT_XA, 1, x.b1, x.d1, shuffle);  \
    CULVERT_AD(CULVERT_XA, 2, x.b2, x.d2, shuffle);  \
    CULVERT_AD(CULVERT_XA, 3, x.b3, x.d3, shuffle);  \
    CULVERT_AD_LAST(CULVERT_YA, 3, y.b3, shuffle);   \
    CULVERT_AD(CULVERT_YA, 0, y.b0, y.d0, shuffle);  \
    CULVERT_AD(CULVERT_YA, 1, y.b1, y.d1, shuffle);  \
    CULVERT_AD(CULVERT_YA, 2, y.b2, y.d2, shuffle);  \
    CULVERT_CB(CULVERT_XC, 0, x.b0, x.d0, up, down); \
    CULVERT_CB(CULVERT_XC, 1, x.b1, x.d1, up, down); \
    CULVERT_CB(CULVERT_XC, 2, x.b2, x.d2, up, down); \
    CULVERT_CB(CULVERT_XC, 3, x.b3, x.d3, up, down); \
    CULVERT_CB(CULVERT_YC, 0, y.b0, y.d0, up, down); \
    CULVERT_CB(CULVERT_YC, 1, y.b1, y.d1, up, down); \
    CULVERT_CB(CULVERT_YC, 2, y.b2, y.d2, up, down); \
    CULVERT_CB_LAST(CULVERT_YC, 3, y.b3, up, down);  \
    slot.two_blocks()
#define CULVERT_DIAGONALS(shuffle, up, down)         \
    CULVERT_AD(CULVERT_XA, 0, x.b1, x.d3, shuffle);  \
    CULVERT_AD(CULVERT_XA, 1, x.b2, x.d0, shuffle);  \
    CULVERT_AD(CULVERT_XA, 2, x.b3, x.d1, shuffle);  \
    CULVERT_AD(CULVERT_XA, 3, x.b0, x.d2, shuffle);  \
    CULVERT_AD_LAST(CULVERT_YA, 0, y.b1, shuffle);   \
    CULVERT_AD(CULVERT_YA, 1, y.b2, y.d0, shuffle);  \
    CULVERT_AD(CULVERT_YA, 2, y.b3, y.d1, shuffle);  \
    CULVERT_AD(CULVERT_YA, 3, y.b0, y.d2, shuffle);  \
    CULVERT_CB(CULVERT_XC, 2, x.b1, x.d3, up, down); \
    CULVERT_CB(CULVERT_XC, 3, x.b2, x.d0, up, down); \
    CULVERT_CB(CULVERT_XC, 0, x.b3, x.d1, up, down); \
    CULVERT_CB(CULVERT_XC, 1, x.b0, x.d2, up, down); \
    CULVERT_CB(CULVERT_YC, 3, y.b2, y.d0, up, down); \
    CULVERT_CB(CULVERT_YC, 0, y.b3, y.d1, up, down); \
    CULVERT_CB(CULVERT_YC, 1, y.b0, y.d2, up, down); \
    CULVERT_CB_LAST(CULVERT_YC, 2, y.b1, up, down);  \
    slot.two_blocks()
    CULVERT_COLUMNS("544", 12, 20);
    CULVERT_COLUMNS("576", 7, 25);
    CULVERT_DIAGONALS("544", 12, 20);
    CULVERT_DIAGONALS("576", 7, 25);
#undef CULVERT_COLUMNS
#undef CULVERT_DIAGONALS
}

struct no_mac {
    CULVERT_PART void two_blocks() noexcept {}
};

// 64 blocks in two chains of 32.
class mac_slot {
  public:
    CULVERT_PART mac_slot(const poly1305_state& mac, const std::uint8_t* text) noexcept
        : r_(mac), first_(mac.h), text_(text) {}

    CULVERT_PART void two_blocks() noexcept {
        mulx_block(first_, r_, text_);
        mulx_block(second_, r_, text_ + pass_size / 2);
        text_ += 16;
    }

    CULVERT_TARGET_AVX2 CULVERT_PART void finish(aead_state& state) const noexcept {
        join_chains<5>(state, first_, second_);
    }

  private:
    mulx_multiplier r_;
    std::array<std::uint64_t, 3> first_;
    std::array<std::uint64_t, 3> second_{};
    const std::uint8_t* text_;
};

CULVERT_TARGET_AVX2 CULVERT_PART __m256i spread(std::uint32_t word) noexcept {
    return _mm256_set1_epi32(static_cast<int>(word));
}

CULVERT_TARGET_AVX2 CULVERT_PART __m256i word_of(const chacha20_words& cipher, std::size_t i,
                                                 std::uint32_t ahead) noexcept {
    if (i != 12) return spread(cipher[i]);
    return _mm256_add_epi32(spread(cipher[12] + ahead), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// Words i … i + 3 of 8 blocks: v0 gets them of blocks 0 and 4, v1 of 1 and 5, ….
CULVERT_TARGET_AVX2 CULVERT_PART void unpack(__m256i& v0, __m256i& v1, __m256i& v2,
                                             __m256i& v3) noexcept {
    const __m256i low01 = _mm256_unpacklo_epi32(v0, v1);
    const __m256i high01 = _mm256_unpackhi_epi32(v0, v1);
    const __m256i low23 = _mm256_unpacklo_epi32(v2, v3);
    const __m256i high23 = _mm256_unpackhi_epi32(v2, v3);
    v0 = _mm256_unpacklo_epi64(low01, low23);
    v1 = _mm256_unpackhi_epi64(low01, low23);
    v2 = _mm256_unpacklo_epi64(high01, high23);
    v3 = _mm256_unpackhi_epi64(high01, high23);
}

// Where a pass puts its key stream.
struct to_stream {
    std::uint8_t* out;
    CULVERT_TARGET_AVX2 CULVERT_PART void put(std::size_t at, __m256i stream) const noexcept {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), stream);
    }
};
struct to_text {
    const std::uint8_t* in;
    std::uint8_t* out;
    CULVERT_TARGET_AVX2 CULVERT_PART void put(std::size_t at, __m256i stream) const noexcept {
        const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), _mm256_xor_si256(text, stream));
    }
};

CULVERT_TARGET_AVX2 CULVERT_PART void store(pass_memory::vector& to, __m256i v) noexcept {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to.data()), v);
}
CULVERT_TARGET_AVX2 CULVERT_PART __m256i load(const pass_memory::vector& from) noexcept {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(from.data()));
}

CULVERT_TARGET_AVX2 CULVERT_PART void begin(set& s, memory_set& m, const chacha20_words& cipher,
                                            std::uint32_t ahead) noexcept {
    for (std::size_t i = 0; i < 4; ++i) {
        store(m.a[i], word_of(cipher, i, ahead));
        store(m.c[i], word_of(cipher, 8 + i, ahead));
    }
    s.b0 = word_of(cipher, 4, ahead);
    s.b1 = word_of(cipher, 5, ahead);
    s.b2 = word_of(cipher, 6, ahead);
    s.b3 = word_of(cipher, 7, ahead);
    s.d0 = word_of(cipher, 12, ahead);
    s.d1 = word_of(cipher, 13, ahead);
    s.d2 = word_of(cipher, 14, ahead);
    s.d3 = word_of(cipher, 15, ahead);
}

template <class Sink>
CULVERT_TARGET_AVX2 CULVERT_PART void finish(const set& s, const memory_set& m, __m256i last,
                                             const chacha20_words& cipher, std::uint32_t ahead,
                                             std::size_t at, const Sink& sink) noexcept {
    __m256i x[16] = {
        load(m.a[0]), load(m.a[1]), load(m.a[2]), load(m.a[3]), s.b0, s.b1, s.b2, s.b3,
        load(m.c[0]), load(m.c[1]), load(m.c[2]), load(m.c[3]), s.d0, s.d1, s.d2, last};
    for (std::size_t i = 0; i < 16; ++i) x[i] = _mm256_add_epi32(x[i], word_of(cipher, i, ahead));
    for (std::size_t i = 0; i < 16; i += 4) unpack(x[i], x[i + 1], x[i + 2], x[i + 3]);
    for (std::size_t k = 0; k < 4; ++k) {
        sink.put(at + 64 * k, _mm256_permute2x128_si256(x[k], x[4 + k], 0x20));
        sink.put(at + 64 * k + 32, _mm256_permute2x128_si256(x[8 + k], x[12 + k], 0x20));
        sink.put(at + 64 * k + 256, _mm256_permute2x128_si256(x[k], x[4 + k], 0x31));
        sink.put(at + 64 * k + 288, _mm256_permute2x128_si256(x[8 + k], x[12 + k], 0x31));
    }
}

template <class Slot, class Sink>
CULVERT_TARGET_AVX2 CULVERT_PART void pass(chacha20_words& cipher, pass_memory& m, Slot& slot,
                                           const Sink& sink) noexcept {
    const __m128i by16 = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    const __m128i by8 = _mm_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
    store(m.rotate16, _mm256_broadcastsi128_si256(by16));
    store(m.rotate8, _mm256_broadcastsi128_si256(by8));
    set x, y;
    begin(y, m.y, cipher, 8);
    store(m.last, y.d3);
    begin(x, m.x, cipher, 0);
    no_mac none;
    for (int i = 0; i < 8; ++i) double_round(x, y, m, slot);
    for (int i = 8; i < 10; ++i) double_round(x, y, m, none);
    finish(x, m.x, x.d3, cipher, 0, 0, sink);
    finish(y, m.y, load(m.last), cipher, 8, 512, sink);
    cipher[12] += 16;
}

}  // namespace

[[gnu::noinline]] CULVERT_TARGET_AVX2 void xor_pass(chacha20_words& cipher, pass_memory& memory,
                                                    const std::uint8_t* in,
                                                    std::uint8_t* out) noexcept {
    no_mac none;
    pass(cipher, memory, none, to_text{in, out});
}

[[gnu::noinline]] CULVERT_TARGET_AVX2 void stream_pass(chacha20_words& cipher, pass_memory& memory,
                                                       std::uint8_t* out) noexcept {
    no_mac none;
    pass(cipher, memory, none, to_stream{out});
}

[[gnu::noinline]] CULVERT_TARGET_AVX2 void xor_mac_pass(aead_state& state, pass_memory& memory,
                                                        const std::uint8_t* text,
                                                        const std::uint8_t* in,
                                                        std::uint8_t* out) noexcept {
    mac_slot slot(state.mac, text);
    pass(state.cipher, memory, slot, to_text{in, out});
    slot.finish(state);
}

[[gnu::noinline]] CULVERT_TARGET_AVX2 void stream_mac_pass(aead_state& state, pass_memory& memory,
                                                           const std::uint8_t* text,
                                                           std::uint8_t* out) noexcept {
    mac_slot slot(state.mac, text);
    pass(state.cipher, memory, slot, to_stream{out});
    slot.finish(state);
}

CULVERT_TARGET_AVX2 void authenticate(aead_state& state, const std::uint8_t* in,
                                      std::size_t blocks) noexcept {
    for (; blocks >= 64; blocks -= 64, in += pass_size) {
        mac_slot slot(state.mac, in);
        for (int i = 0; i < 32; ++i) slot.two_blocks();
        slot.finish(state);
    }
    mulx_blocks(state.mac, in, blocks);
}

CULVERT_TARGET_AVX2 void mac_blocks(poly1305_state& state, const std::uint8_t* in,
                                    std::size_t blocks) noexcept {
    aead_state working;
    working.mac = state;
    working.powers.made = poly1305_powers::extent::none;
    authenticate(working, in, blocks);
    state.h = working.mac.h;
    working.mac = {};
    working.powers.words = {};
    __asm__ volatile("" : : "r"(&working) : "memory");  // it is wiped for somebody
}

}  // namespace culvert::crypto::avx2

#endif
