// ChaCha20-Poly1305 with AVX2.
//
// A vector holds one word of 8 blocks; 16 registers are just enough for one such set, whose chain
// of dependent instructions leaves half of the CPU idle. Poly1305 takes that half: it runs in the
// scalar units, block after block, its instructions spread over the rounds (32 blocks of 16 bytes
// in the first eight double rounds), and costs next to nothing.
//
// Up to four blocks are computed as rows, two a vector. The block counter is added up mod 2^32 in
// 32-bit lanes; no carry reaches word 13.

#include <algorithm>

#include "crypto/kernels/cpu.hpp"
#include "crypto/kernels/intrinsics.hpp"
#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "crypto/kernels/x86.hpp"
#include "crypto/secret.hpp"

#if CULVERT_X86

namespace culvert::crypto {
namespace {

constexpr std::size_t set_blocks = 8;
constexpr std::size_t set_size = 64 * set_blocks;

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

// ---------------------------------------------------------------------------------------- rows

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

// ---------------------------------------------------------------------------------------- sets

// Authenticates one block of 16 bytes at a time, somewhere between the steps.
class mac_slot {
  public:
    CULVERT_PART mac_slot(const poly1305_state& mac, const std::uint8_t* text) noexcept
        : mac_(mac), text_(text) {}
    CULVERT_TARGET_AVX2 CULVERT_PART void one_block() noexcept {
        detail::add_block(mac_, load64_le(text_), load64_le(text_ + 8), 1);
        detail::multiply(mac_);
        text_ += 16;
    }
    CULVERT_PART void finish(poly1305_state& mac) const noexcept { mac.h = mac_.h; }

  private:
    poly1305_state mac_;
    const std::uint8_t* text_;
};

struct no_mac {
    CULVERT_PART void one_block() noexcept {}
};

template <int A, int B, class Words>
CULVERT_TARGET_AVX2 CULVERT_PART void steps(Words& x, int b, int c, int d) noexcept {
    for (int i = 0; i < 4; ++i) step<A>(x[i], x[4 + (i + b) % 4], x[12 + (i + d) % 4]);
    for (int i = 0; i < 4; ++i) {
        step<B>(x[8 + (i + c) % 4], x[12 + (i + d) % 4], x[4 + (i + b) % 4]);
    }
}

template <class Words, class Slot>
CULVERT_TARGET_AVX2 CULVERT_PART void double_round(Words& x, Slot& slot) noexcept {
    steps<16, 12>(x, 0, 0, 0);
    slot.one_block();
    steps<8, 7>(x, 0, 0, 0);
    slot.one_block();
    steps<16, 12>(x, 1, 2, 3);
    slot.one_block();
    steps<8, 7>(x, 1, 2, 3);
    slot.one_block();
}

CULVERT_TARGET_AVX2 CULVERT_PART __m256i spread(std::uint32_t word) noexcept {
    return _mm256_set1_epi32(static_cast<int>(word));
}

CULVERT_TARGET_AVX2 CULVERT_PART __m256i word_of(const chacha20_words& cipher,
                                                 std::size_t i) noexcept {
    const __m256i word = spread(cipher[i]);
    return i == 12 ? _mm256_add_epi32(word, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) : word;
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

struct to_stream {
    std::uint8_t* out;
    CULVERT_TARGET_AVX2 CULVERT_PART void put_half(std::size_t at, __m256i stream) const noexcept {
        put(out + at, stream);
    }
};
struct to_text {
    const std::uint8_t* in;
    std::uint8_t* out;
    CULVERT_TARGET_AVX2 CULVERT_PART void put_half(std::size_t at, __m256i stream) const noexcept {
        put(out + at, _mm256_xor_si256(get(in + at), stream));
    }
};

template <class Slot, class Sink>
CULVERT_TARGET_AVX2 CULVERT_PART void set_of_blocks(chacha20_words& cipher, Slot& slot,
                                                    const Sink& sink) noexcept {
    __m256i x[16];
    for (std::size_t i = 0; i < 16; ++i) x[i] = word_of(cipher, i);
    no_mac none;
    for (int i = 0; i < 8; ++i) double_round(x, slot);
    for (int i = 8; i < 10; ++i) double_round(x, none);
    for (std::size_t i = 0; i < 16; ++i) x[i] = _mm256_add_epi32(x[i], word_of(cipher, i));
    for (std::size_t i = 0; i < 16; i += 4) unpack(x[i], x[i + 1], x[i + 2], x[i + 3]);
    for (std::size_t k = 0; k < 4; ++k) {
        sink.put_half(64 * k, _mm256_permute2x128_si256(x[k], x[4 + k], 0x20));
        sink.put_half(64 * k + 32, _mm256_permute2x128_si256(x[8 + k], x[12 + k], 0x20));
        sink.put_half(64 * k + 256, _mm256_permute2x128_si256(x[k], x[4 + k], 0x31));
        sink.put_half(64 * k + 288, _mm256_permute2x128_si256(x[8 + k], x[12 + k], 0x31));
    }
    cipher[12] += set_blocks;
}

[[gnu::noinline]] CULVERT_TARGET_AVX2 void xor_set(chacha20_words& cipher, const std::uint8_t* in,
                                                   std::uint8_t* out) noexcept {
    no_mac none;
    set_of_blocks(cipher, none, to_text{in, out});
}

[[gnu::noinline]] CULVERT_TARGET_AVX2 void stream_set(chacha20_words& cipher,
                                                      std::uint8_t* out) noexcept {
    no_mac none;
    set_of_blocks(cipher, none, to_stream{out});
}

[[gnu::noinline]] CULVERT_TARGET_AVX2 void xor_mac_set(aead_state& state, const std::uint8_t* text,
                                                       const std::uint8_t* in,
                                                       std::uint8_t* out) noexcept {
    mac_slot slot(state.mac, text);
    set_of_blocks(state.cipher, slot, to_text{in, out});
    slot.finish(state.mac);
}

[[gnu::noinline]] CULVERT_TARGET_AVX2 void stream_mac_set(aead_state& state,
                                                          const std::uint8_t* text,
                                                          std::uint8_t* out) noexcept {
    mac_slot slot(state.mac, text);
    set_of_blocks(state.cipher, slot, to_stream{out});
    slot.finish(state.mac);
}

// ------------------------------------------------------------------------------------- kernels

void keystream(chacha20_words& cipher, std::uint8_t* out, std::size_t blocks) noexcept {
    const std::uint32_t after = cipher[12] + static_cast<std::uint32_t>(blocks);
    if (blocks % set_blocks == 1) {  // not a whole set for one block
        two_blocks(cipher, out);
        ++cipher[12];
        out += 64;
        --blocks;
    }
    while (blocks > 4) {
        stream_set(cipher, out);
        out += set_size;
        blocks -= std::min(blocks, set_blocks);
    }
    if (blocks > 2) {
        four_blocks(cipher, out);
    } else if (blocks > 0) {
        two_blocks(cipher, out);
    }
    cipher[12] = after;
}

CULVERT_TARGET_AVX2 void mac_blocks(poly1305_state& state, const std::uint8_t* in,
                                    std::size_t blocks) noexcept {
    detail::authenticate_singly(state, in, blocks);
}

void authenticate(aead_state& state, const std::uint8_t* in, std::size_t blocks) noexcept {
    mac_blocks(state.mac, in, blocks);
}

void seal_runs(aead_state& state, const std::uint8_t* pending, const std::uint8_t* in,
               std::uint8_t* out, std::size_t runs) noexcept {
    const std::uint8_t* text = pending;
    for (; runs != 0; --runs) {
        for (std::size_t at = 0; at < aead_run; at += set_size) {
            if (text != nullptr) {
                xor_mac_set(state, text + at, in + at, out + at);
            } else {
                xor_set(state.cipher, in + at, out + at);
            }
        }
        text = out;
        in += aead_run;
        out += aead_run;
    }
}

void open_runs(aead_state& state, const std::uint8_t* in, std::uint8_t* out,
               std::size_t runs) noexcept {
    for (std::size_t size = runs * aead_run; size != 0; size -= set_size) {
        xor_mac_set(state, in, in, out);
        in += set_size;
        out += set_size;
    }
}

void renew(aead_state& state, const std::uint8_t* pending, std::uint8_t* stream) noexcept {
    for (std::size_t at = 0; at < aead_run; at += set_size) {
        stream_mac_set(state, pending + at, stream + at);
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
    for (; blocks >= set_blocks; blocks -= set_blocks, in += set_size, out += set_size) {
        xor_set(cipher, in, out);
    }
    if (blocks == 0) return;
    std::array<std::uint8_t, set_size + 64> stream;
    keystream(cipher, stream.data(), blocks);
    open_piece(stream.data(), in, out, 64 * blocks);
    wipe(stream);
}

}  // namespace

constinit const chacha20_kernel chacha20_avx2{"avx2", supported, xor_blocks, set_blocks};
constinit const poly1305_kernel poly1305_avx2{"avx2", supported, mac_blocks, 1};
constinit const aead_kernel aead_avx2{"avx2",    supported, keystream,  authenticate, seal_runs,
                                      open_runs, renew,     seal_piece, open_piece};

}  // namespace culvert::crypto

#endif
