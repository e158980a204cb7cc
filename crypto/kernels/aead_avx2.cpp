// ChaCha20-Poly1305 with AVX2: chooses passes for what is asked, and computes few blocks as rows,
// two a vector.

#include <algorithm>

#include "crypto/kernels/avx2.hpp"
#include "crypto/kernels/intrinsics.hpp"
#include "crypto/kernels/x86.hpp"
#include "crypto/secret.hpp"

#if CULVERT_X86

namespace culvert::crypto {
namespace {

using avx2::pass_memory;
using avx2::pass_size;

constexpr std::size_t pass_blocks = pass_size / 64;

bool supported() noexcept {
    return cpu().avx2;
}

template <int Bits>
CULVERT_TARGET_AVX2 CULVERT_PART __m256i rotate(__m256i v) noexcept {
    if constexpr (Bits == 16) {
        return _mm256_shuffle_epi8(
            v, _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6,
                                7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    } else if constexpr (Bits == 8) {
        return _mm256_shuffle_epi8(
            v, _mm256_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7,
                                4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14));
    } else {
        return _mm256_or_si256(_mm256_slli_epi32(v, Bits), _mm256_srli_epi32(v, 32 - Bits));
    }
}

// a += b; d = (d ^ a) <<< Bits.
template <int Bits>
CULVERT_TARGET_AVX2 CULVERT_PART void step(__m256i& a, __m256i b, __m256i& d) noexcept {
    a = _mm256_add_epi32(a, b);
    d = rotate<Bits>(_mm256_xor_si256(d, a));
}

template <std::size_t Sets>
struct rows {
    __m256i a[Sets], b[Sets], c[Sets], d[Sets];
};

template <std::size_t Sets>
CULVERT_TARGET_AVX2 CULVERT_PART void quarter_rounds(rows<Sets>& r) noexcept {
    for (std::size_t i = 0; i < Sets; ++i) step<16>(r.a[i], r.b[i], r.d[i]);
    for (std::size_t i = 0; i < Sets; ++i) step<12>(r.c[i], r.d[i], r.b[i]);
    for (std::size_t i = 0; i < Sets; ++i) step<8>(r.a[i], r.b[i], r.d[i]);
    for (std::size_t i = 0; i < Sets; ++i) step<7>(r.c[i], r.d[i], r.b[i]);
}

// Row b is known last, so it stays and the others turn.
template <int A, int C, std::size_t Sets>
CULVERT_TARGET_AVX2 CULVERT_PART void turn(rows<Sets>& r) noexcept {
    for (std::size_t i = 0; i < Sets; ++i) {
        r.a[i] = _mm256_shuffle_epi32(r.a[i], A);
        r.d[i] = _mm256_shuffle_epi32(r.d[i], 0x4e);
        r.c[i] = _mm256_shuffle_epi32(r.c[i], C);
    }
}

CULVERT_TARGET_AVX2 CULVERT_PART __m256i load_row(const chacha20_words& cipher,
                                                  std::size_t word) noexcept {
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(cipher.data() + word)));
}

template <std::size_t Sets>
CULVERT_TARGET_AVX2 CULVERT_PART rows<Sets> begin_rows(const chacha20_words& cipher) noexcept {
    rows<Sets> r;
    for (std::size_t i = 0; i < Sets; ++i) {
        const auto ahead = static_cast<int>(2 * i);
        r.a[i] = load_row(cipher, 0);
        r.b[i] = load_row(cipher, 4);
        r.c[i] = load_row(cipher, 8);
        r.d[i] = _mm256_add_epi32(load_row(cipher, 12),
                                  _mm256_setr_epi32(ahead, 0, 0, 0, ahead + 1, 0, 0, 0));
    }
    return r;
}

CULVERT_TARGET_AVX2 CULVERT_PART void put(std::uint8_t* to, __m256i v) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
}
CULVERT_TARGET_AVX2 CULVERT_PART __m256i get(const std::uint8_t* from) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

template <std::size_t Sets>
CULVERT_TARGET_AVX2 CULVERT_PART void row_blocks(const chacha20_words& cipher,
                                                 std::uint8_t* out) noexcept {
    rows<Sets> r = begin_rows<Sets>(cipher);
    for (int pair = 0; pair < 10; ++pair) {
        quarter_rounds(r);
        turn<0x93, 0x39>(r);
        quarter_rounds(r);
        turn<0x39, 0x93>(r);
    }
    const rows<Sets> before = begin_rows<Sets>(cipher);
    for (std::size_t i = 0; i < Sets; ++i, out += 128) {
        const __m256i a = _mm256_add_epi32(r.a[i], before.a[i]);
        const __m256i b = _mm256_add_epi32(r.b[i], before.b[i]);
        const __m256i c = _mm256_add_epi32(r.c[i], before.c[i]);
        const __m256i d = _mm256_add_epi32(r.d[i], before.d[i]);
        put(out, _mm256_permute2x128_si256(a, b, 0x20));
        put(out + 32, _mm256_permute2x128_si256(c, d, 0x20));
        put(out + 64, _mm256_permute2x128_si256(a, b, 0x31));
        put(out + 96, _mm256_permute2x128_si256(c, d, 0x31));
    }
}

CULVERT_TARGET_AVX2 void two_blocks(const chacha20_words& cipher, std::uint8_t* out) noexcept {
    row_blocks<1>(cipher, out);
}
CULVERT_TARGET_AVX2 void four_blocks(const chacha20_words& cipher, std::uint8_t* out) noexcept {
    row_blocks<2>(cipher, out);
}

struct wiped_memory : pass_memory {
    wiped_memory() noexcept {}  // NOLINT: each pass writes before it reads
    wiped_memory(const wiped_memory&) = delete;
    wiped_memory& operator=(const wiped_memory&) = delete;
    ~wiped_memory() { wipe({reinterpret_cast<std::uint8_t*>(this), sizeof(pass_memory)}); }
};

std::size_t keystream(chacha20_words& cipher, std::uint8_t* out, std::size_t blocks) noexcept {
    const std::uint8_t* begin = out;
    const std::uint32_t after = cipher[12] + static_cast<std::uint32_t>(blocks);
    if (blocks % pass_blocks == 1) {  // not a whole pass for one block
        two_blocks(cipher, out);
        ++cipher[12];
        out += 64;
        --blocks;
    }
    if (blocks > 4) {
        wiped_memory memory;
        for (; blocks > 4; blocks -= std::min(blocks, pass_blocks), out += pass_size) {
            avx2::stream_pass(cipher, memory, out);
        }
    }
    if (blocks > 2) {
        four_blocks(cipher, out);
        out += 256;
    } else if (blocks > 0) {
        two_blocks(cipher, out);
        out += 128;
    }
    cipher[12] = after;
    return static_cast<std::size_t>(out - begin) / 64;
}

void seal_runs(aead_state& state, const std::uint8_t* pending, const std::uint8_t* in,
               std::uint8_t* out, std::size_t runs) noexcept {
    if (runs == 0) return;
    wiped_memory memory;
    const std::uint8_t* text = pending;
    for (; runs != 0; --runs) {
        for (std::size_t at = 0; at < aead_run; at += pass_size) {
            if (text != nullptr) {
                avx2::xor_mac_pass(state, memory, text + at, in + at, out + at);
            } else {
                avx2::xor_pass(state.cipher, memory, in + at, out + at);
            }
        }
        text = out;
        in += aead_run;
        out += aead_run;
    }
}

void open_runs(aead_state& state, const std::uint8_t* in, std::uint8_t* out,
               std::size_t runs) noexcept {
    if (runs == 0) return;
    wiped_memory memory;
    for (std::size_t size = runs * aead_run; size != 0; size -= pass_size) {
        avx2::xor_mac_pass(state, memory, in, in, out);
        in += pass_size;
        out += pass_size;
    }
}

void renew(aead_state& state, const std::uint8_t* pending, std::uint8_t* stream) noexcept {
    wiped_memory memory;
    for (std::size_t at = 0; at < aead_run; at += pass_size) {
        avx2::stream_mac_pass(state, memory, pending + at, stream + at);
    }
}

template <bool Seal>
CULVERT_TARGET_AVX2 CULVERT_PART void piece(std::uint8_t* stream, const std::uint8_t* in,
                                            std::uint8_t* out, std::size_t size) noexcept {
    for (; size >= 32; size -= 32, stream += 32, in += 32, out += 32) {
        const __m256i text = get(in);
        const __m256i other = _mm256_xor_si256(text, get(stream));
        put(out, other);
        put(stream, Seal ? other : text);
    }
    if (size == 0) return;
    // The rest by way of the stack, so that the stream is stored whole and soon read back.
    alignas(32) std::array<std::uint8_t, 32> rest;
    put(rest.data(), get(stream));
    std::memcpy(rest.data(), in, size);
    const __m256i text = get(rest.data());
    const __m256i other = _mm256_xor_si256(text, get(stream));
    put(rest.data(), other);
    std::memcpy(out, rest.data(), size);
    if constexpr (Seal) {
        // Behind the text both were the stream, which must stay.
        std::memcpy(stream, rest.data(), size);
    } else {
        put(stream, text);
    }
    put(rest.data(), _mm256_setzero_si256());
}

CULVERT_TARGET_AVX2 void seal_piece(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                                    std::size_t size) noexcept {
    piece<true>(stream, in, out, size);
}

CULVERT_TARGET_AVX2 void open_piece(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                                    std::size_t size) noexcept {
    piece<false>(stream, in, out, size);
}

void xor_blocks(chacha20_words& cipher, const std::uint8_t* in, std::uint8_t* out,
                std::size_t blocks) noexcept {
    if (blocks >= pass_blocks) {
        wiped_memory memory;
        for (; blocks >= pass_blocks; blocks -= pass_blocks, in += pass_size, out += pass_size) {
            avx2::xor_pass(cipher, memory, in, out);
        }
    }
    if (blocks == 0) return;
    std::array<std::uint8_t, pass_size + 64> stream;
    keystream(cipher, stream.data(), blocks);
    open_piece(stream.data(), in, out, 64 * blocks);
    wipe(stream);
}

}  // namespace

constinit const chacha20_kernel chacha20_avx2{"avx2", supported, xor_blocks, pass_blocks};
constinit const poly1305_kernel poly1305_avx2{"avx2", supported, avx2::mac_blocks, 64};
constinit const aead_kernel aead_avx2{"avx2",    supported, keystream, avx2::authenticate,
                                      seal_runs, open_runs, renew,     seal_piece,
                                      open_piece};

}  // namespace culvert::crypto

#endif
