// The seam of ChaCha20: what a kernel must do, and the table of kernels.
#pragma once

#include <array>
#include <span>

#include "crypto/bytes.hpp"
#include "crypto/kernels/selection.hpp"

namespace culvert::crypto {

// RFC 8439 §2.3: 4 words of constants, 8 of key, the block counter (word 12), 3 of nonce.
using chacha20_words = std::array<std::uint32_t, 16>;

namespace detail {
// Kernels read rows of four words, which are there sooner when they were written so.
using chacha20_row = std::uint32_t __attribute__((vector_size(16)));

inline void set_row(chacha20_words& words, std::size_t row, chacha20_row value) noexcept {
    std::memcpy(words.data() + 4 * row, &value, sizeof value);
}

inline chacha20_row load_row(const std::uint8_t* from) noexcept {
    static_assert(std::endian::native == std::endian::little, "swap the bytes of each word");
    chacha20_row row;
    std::memcpy(&row, from, sizeof row);
    return row;
}

// "expand 32-byte k", then the key.
inline void set_key(chacha20_words& words, block_view<32> key) noexcept {
    set_row(words, 0, chacha20_row{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574});
    set_row(words, 1, load_row(key.data()));
    set_row(words, 2, load_row(key.data() + 16));
}

inline void set_position(chacha20_words& words, std::uint32_t counter,
                         block_view<12> nonce) noexcept {
    const std::uint8_t* from = nonce.data();
    set_row(words, 3,
            chacha20_row{counter, load32_le(from), load32_le(from + 4), load32_le(from + 8)});
}
}  // namespace detail

struct chacha20_kernel {
    const char* name;
    bool (*supported)() noexcept;

    // out = in ^ key stream, for `blocks` blocks of 64 bytes (0 allowed). Word 12 is advanced by
    // `blocks` mod 2^32 and no carry ever reaches word 13. The caller has seen to it that no block
    // past counter 2^32 − 1 is asked for. `in` and `out` are the same or disjoint, unaligned.
    void (*xor_blocks)(chacha20_words& state, const std::uint8_t* in, std::uint8_t* out,
                       std::size_t blocks) noexcept;

    // What a call handles best at once, in blocks.
    std::size_t width;
};

// All kernels of this build, best first, portable last.
std::span<const chacha20_kernel> chacha20_kernels() noexcept;

// The choice of this process, made at the first call. CULVERT_KERNEL_CHACHA20 names one.
const kernel_selection<chacha20_kernel>& chacha20_selection() noexcept;
inline const chacha20_kernel& best_chacha20_kernel() noexcept {
    return *chacha20_selection().kernel;
}

// The known-answer test that a kernel must pass to be chosen.
bool passes_test(const chacha20_kernel& kernel) noexcept;

}  // namespace culvert::crypto
