// ChaCha20-Poly1305 with AVX-512 and IFMA: chooses passes for what is asked.

#include "crypto/kernels/intrinsics.hpp"

#include <algorithm>

#include "crypto/kernels/avx512.hpp"
#include "crypto/kernels/x86.hpp"
#include "crypto/secret.hpp"

#if CULVERT_X86

namespace culvert::crypto {
namespace {

using avx512::pass_memory;

// Memory of passes, not set before, wiped afterwards.
struct wiped_memory : pass_memory {
    wiped_memory() noexcept {}  // NOLINT: each pass writes before it reads
    wiped_memory(const wiped_memory&) = delete;
    wiped_memory& operator=(const wiped_memory&) = delete;
    ~wiped_memory() {
        avx512::wipe_vectors(row_a.data(), row_a.size() + sums.size() + lanes.size());
    }
};

bool supported() noexcept {
    return cpu().avx512;
}

std::size_t keystream_pass(chacha20_words& cipher, std::uint8_t* out, bool one_more) noexcept {
    wiped_memory memory;
    one_more ? avx512::first_pass(cipher, memory, out) : avx512::stream_pass(cipher, memory, out);
    return aead_run_blocks + (one_more ? 1 : 0);
}

std::size_t some_blocks(chacha20_words& cipher, std::uint8_t* out, std::size_t blocks) noexcept {
    if (blocks <= 4) {
        avx512::rows4(cipher, out);
        return 4;
    }
    if (blocks <= 8) {
        avx512::rows8(cipher, out);
        return 8;
    }
    if (blocks <= 16) {
        avx512::rows16(cipher, out);
        return 16;
    }
    if (blocks <= 24) {
        avx512::rows24(cipher, out);
        return 24;
    }
    return keystream_pass(cipher, out, blocks == aead_run_blocks + 1);
}

std::size_t keystream(chacha20_words& cipher, std::uint8_t* out, std::size_t blocks) noexcept {
    const std::uint32_t before = cipher[12];
    const std::size_t written = some_blocks(cipher, out, blocks);
    cipher[12] = before + static_cast<std::uint32_t>(blocks);
    return written;
}

void seal_runs(aead_state& state, const std::uint8_t* pending, const std::uint8_t* in,
               std::uint8_t* out, std::size_t runs) noexcept {
    if (runs == 0) return;
    wiped_memory memory;
    avx512::begin_lanes(state, memory);
    if (pending == nullptr) {
        avx512::xor_pass(state.cipher, memory, in, out);
    } else {
        avx512::xor_mac_pass(state, memory, pending, in, out);
    }
    for (std::size_t i = 1; i < runs; ++i) {
        pending = out;
        in += aead_run;
        out += aead_run;
        avx512::xor_mac_pass(state, memory, pending, in, out);
    }
    avx512::end_lanes(state, memory);
}

void open_runs(aead_state& state, const std::uint8_t* in, std::uint8_t* out,
               std::size_t runs) noexcept {
    if (runs == 0) return;
    wiped_memory memory;
    avx512::begin_lanes(state, memory);
    for (; runs != 0; --runs, in += aead_run, out += aead_run) {
        avx512::xor_mac_pass(state, memory, in, in, out);
    }
    avx512::end_lanes(state, memory);
}

void renew(aead_state& state, const std::uint8_t* pending, std::uint8_t* stream) noexcept {
    wiped_memory memory;
    avx512::begin_lanes(state, memory);
    avx512::stream_mac_pass(state, memory, pending, stream);
    avx512::end_lanes(state, memory);
}

template <bool Seal>
CULVERT_TARGET_AVX512 CULVERT_PART void piece(std::uint8_t* stream, const std::uint8_t* in,
                                              std::uint8_t* out, std::size_t size) noexcept {
#pragma GCC unroll 4
    for (; size >= 64; size -= 64, stream += 64, in += 64, out += 64) {
        const __m512i text = _mm512_loadu_si512(in);
        const __m512i other = _mm512_xor_si512(text, _mm512_loadu_si512(stream));
        _mm512_storeu_si512(out, other);
        _mm512_storeu_si512(stream, Seal ? other : text);
    }
    if (size == 0) return;
    // The stream is stored whole: what is stored under a mask takes long to be read back.
    const auto mask = static_cast<__mmask64>((std::uint64_t{1} << size) - 1);
    const __m512i text = _mm512_maskz_loadu_epi8(mask, in);
    const __m512i before = _mm512_loadu_si512(stream);
    const __m512i other = _mm512_xor_si512(text, before);
    _mm512_mask_storeu_epi8(out, mask, other);
    _mm512_storeu_si512(stream, Seal ? other : _mm512_mask_mov_epi8(before, mask, text));
}

CULVERT_TARGET_AVX512 void seal_piece(std::uint8_t* stream, const std::uint8_t* in,
                                      std::uint8_t* out, std::size_t size) noexcept {
    piece<true>(stream, in, out, size);
}

CULVERT_TARGET_AVX512 void open_piece(std::uint8_t* stream, const std::uint8_t* in,
                                      std::uint8_t* out, std::size_t size) noexcept {
    piece<false>(stream, in, out, size);
}

void xor_blocks(chacha20_words& cipher, const std::uint8_t* in, std::uint8_t* out,
                std::size_t blocks) noexcept {
    if (blocks >= aead_run_blocks) {
        wiped_memory memory;
        for (; blocks >= aead_run_blocks; blocks -= aead_run_blocks) {
            avx512::xor_pass(cipher, memory, in, out);
            in += aead_run;
            out += aead_run;
        }
    }
    if (blocks == 0) return;
    std::array<std::uint8_t, aead_run + 64> stream;
    keystream(cipher, stream.data(), blocks);
    open_piece(stream.data(), in, out, 64 * blocks);
    wipe(stream);
}

}  // namespace

constinit const chacha20_kernel chacha20_avx512{"avx512", supported, xor_blocks, aead_run_blocks};

constinit const aead_kernel aead_avx512{"avx512",  supported, keystream, avx512::authenticate,
                                        seal_runs, open_runs, renew,     seal_piece,
                                        open_piece};

}  // namespace culvert::crypto

#endif
