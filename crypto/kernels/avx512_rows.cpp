// ChaCha20 for few blocks: vectors hold a row of four blocks each, so that the time is that of the
// longest chain of dependent instructions, and one, two or four such sets run side by side.
//
// Between column and diagonal rounds three of the four rows turn. Row b is the last to be known, so
// it stays, and the others turn around it: no shuffle is on the critical path.

#include "crypto/kernels/intrinsics.hpp"

#include "crypto/kernels/avx512.hpp"
#include "crypto/kernels/target.hpp"

#if CULVERT_X86

namespace culvert::crypto::avx512 {
namespace {

template <std::size_t Sets>
struct rows {
    __m512i a[Sets], b[Sets], c[Sets], d[Sets];
};

template <std::size_t Sets>
CULVERT_TARGET_AVX512 CULVERT_PART void quarter_rounds(rows<Sets>& r) noexcept {
    for (std::size_t i = 0; i < Sets; ++i) r.a[i] = _mm512_add_epi32(r.a[i], r.b[i]);
    for (std::size_t i = 0; i < Sets; ++i)
        r.d[i] = _mm512_rol_epi32(_mm512_xor_si512(r.d[i], r.a[i]), 16);
    for (std::size_t i = 0; i < Sets; ++i) r.c[i] = _mm512_add_epi32(r.c[i], r.d[i]);
    for (std::size_t i = 0; i < Sets; ++i)
        r.b[i] = _mm512_rol_epi32(_mm512_xor_si512(r.b[i], r.c[i]), 12);
    for (std::size_t i = 0; i < Sets; ++i) r.a[i] = _mm512_add_epi32(r.a[i], r.b[i]);
    for (std::size_t i = 0; i < Sets; ++i)
        r.d[i] = _mm512_rol_epi32(_mm512_xor_si512(r.d[i], r.a[i]), 8);
    for (std::size_t i = 0; i < Sets; ++i) r.c[i] = _mm512_add_epi32(r.c[i], r.d[i]);
    for (std::size_t i = 0; i < Sets; ++i)
        r.b[i] = _mm512_rol_epi32(_mm512_xor_si512(r.b[i], r.c[i]), 7);
}

template <int A, int C, std::size_t Sets>
CULVERT_TARGET_AVX512 CULVERT_PART void turn(rows<Sets>& r) noexcept {
    for (std::size_t i = 0; i < Sets; ++i) {
        r.a[i] = _mm512_shuffle_epi32(r.a[i], static_cast<_MM_PERM_ENUM>(A));
        r.d[i] = _mm512_shuffle_epi32(r.d[i], static_cast<_MM_PERM_ENUM>(0x4e));
        r.c[i] = _mm512_shuffle_epi32(r.c[i], static_cast<_MM_PERM_ENUM>(C));
    }
}

template <std::size_t Sets>
CULVERT_TARGET_AVX512 CULVERT_PART rows<Sets> begin(const chacha20_words& cipher) noexcept {
    rows<Sets> r;
    for (std::size_t i = 0; i < Sets; ++i) {
        const auto ahead = static_cast<int>(4 * i);
        r.a[i] = _mm512_broadcast_i32x4(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(cipher.data())));
        r.b[i] = _mm512_broadcast_i32x4(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(cipher.data() + 4)));
        r.c[i] = _mm512_broadcast_i32x4(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(cipher.data() + 8)));
        r.d[i] = _mm512_add_epi32(_mm512_broadcast_i32x4(_mm_loadu_si128(
                                      reinterpret_cast<const __m128i*>(cipher.data() + 12))),
                                  _mm512_setr_epi32(ahead, 0, 0, 0, ahead + 1, 0, 0, 0, ahead + 2,
                                                    0, 0, 0, ahead + 3, 0, 0, 0));
    }
    return r;
}

CULVERT_TARGET_AVX512 CULVERT_PART void store(__m512i a, __m512i b, __m512i c, __m512i d,
                                              std::uint8_t* out) noexcept {
    const __m512i ab_low = _mm512_shuffle_i32x4(a, b, 0x44);
    const __m512i cd_low = _mm512_shuffle_i32x4(c, d, 0x44);
    const __m512i ab_high = _mm512_shuffle_i32x4(a, b, 0xee);
    const __m512i cd_high = _mm512_shuffle_i32x4(c, d, 0xee);
    _mm512_storeu_si512(out, _mm512_shuffle_i32x4(ab_low, cd_low, 0x88));
    _mm512_storeu_si512(out + 64, _mm512_shuffle_i32x4(ab_low, cd_low, 0xdd));
    _mm512_storeu_si512(out + 128, _mm512_shuffle_i32x4(ab_high, cd_high, 0x88));
    _mm512_storeu_si512(out + 192, _mm512_shuffle_i32x4(ab_high, cd_high, 0xdd));
}

template <std::size_t Sets>
CULVERT_TARGET_AVX512 CULVERT_PART void all_rounds(const chacha20_words& cipher,
                                                   std::uint8_t* out) noexcept {
    rows<Sets> r = begin<Sets>(cipher);
    for (int pair = 0; pair < 10; ++pair) {
        quarter_rounds(r);
        turn<0x93, 0x39>(r);
        quarter_rounds(r);
        turn<0x39, 0x93>(r);
    }
    const rows<Sets> before = begin<Sets>(cipher);
    for (std::size_t i = 0; i < Sets; ++i) {
        store(_mm512_add_epi32(r.a[i], before.a[i]), _mm512_add_epi32(r.b[i], before.b[i]),
              _mm512_add_epi32(r.c[i], before.c[i]), _mm512_add_epi32(r.d[i], before.d[i]),
              out + 256 * i);
    }
}

}  // namespace

CULVERT_TARGET_AVX512 void rows4(const chacha20_words& cipher, std::uint8_t* out) noexcept {
    all_rounds<1>(cipher, out);
}
CULVERT_TARGET_AVX512 void rows8(const chacha20_words& cipher, std::uint8_t* out) noexcept {
    all_rounds<2>(cipher, out);
}
CULVERT_TARGET_AVX512 void rows16(const chacha20_words& cipher, std::uint8_t* out) noexcept {
    all_rounds<4>(cipher, out);
}
CULVERT_TARGET_AVX512 void rows24(const chacha20_words& cipher, std::uint8_t* out) noexcept {
    all_rounds<6>(cipher, out);
}

}  // namespace culvert::crypto::avx512

#endif
