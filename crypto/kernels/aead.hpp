// The seam of ChaCha20-Poly1305: what a kernel must do when cipher and authenticator run in one
// pass, and the table of kernels.
#pragma once

#include "crypto/kernels/chacha20.hpp"
#include "crypto/kernels/poly1305.hpp"

namespace culvert::crypto {

// A run: what the long paths work on at once.
inline constexpr std::size_t aead_run_blocks = 32;
inline constexpr std::size_t aead_run = 64 * aead_run_blocks;  // bytes

// Room for powers of the multiplier r, in whatever form a kernel wants them. They belong to
// mac.r: who changes r sets `made` to none.
struct poly1305_powers {
    enum class extent : std::uint8_t { none, some, all };

    extent made;
    alignas(64) std::array<std::uint64_t, 80> words;
};

// What a kernel takes and gives back: the cipher's next block and the authenticator's accumulator.
struct aead_state {
    chacha20_words cipher;
    poly1305_state mac;
    poly1305_powers powers;
};

// Key stream behind the counter 2^32 − 1 begins again at block 0; the caller never uses it. No
// pointer needs an alignment.
struct aead_kernel {
    const char* name;
    bool (*supported)() noexcept;

    // out = the next `blocks` ≤ 33 blocks of the key stream; word 12 is advanced by as many. May
    // write more than asked for, 32 blocks at most; gives the number of blocks written.
    std::size_t (*keystream)(chacha20_words& cipher, std::uint8_t* out,
                             std::size_t blocks) noexcept;

    // Poly1305 over `blocks` blocks of 16 bytes (0 allowed).
    void (*authenticate)(aead_state& state, const std::uint8_t* in, std::size_t blocks) noexcept;

    // Encrypts `runs` runs (0 allowed) from `in` to `out`, in place or disjoint. Authenticates the
    // run at `pending`, unless that is null, then all runs made but the last, which is pending
    // afterwards. (So each run is authenticated while the next one is encrypted.) With no runs
    // nothing is done.
    void (*seal_runs)(aead_state& state, const std::uint8_t* pending, const std::uint8_t* in,
                      std::uint8_t* out, std::size_t runs) noexcept;

    // Authenticates `runs` runs at `in` and decrypts them to `out`, in place or disjoint.
    void (*open_runs)(aead_state& state, const std::uint8_t* in, std::uint8_t* out,
                      std::size_t runs) noexcept;

    // Authenticates the run at `pending`, and stream = the next run of the key stream. Both may be
    // the same memory.
    void (*renew)(aead_state& state, const std::uint8_t* pending, std::uint8_t* stream) noexcept;

    // For `size` bytes: out = in ^ stream, and the stream is replaced by the ciphertext, which is
    // the output or the input. `in` and `out` in place or disjoint, `stream` apart from both and
    // with 64 bytes more, which are not changed but may be written.
    void (*seal_piece)(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                       std::size_t size) noexcept;
    void (*open_piece)(std::uint8_t* stream, const std::uint8_t* in, std::uint8_t* out,
                       std::size_t size) noexcept;
};

// All kernels of this build, best first, portable last.
std::span<const aead_kernel> aead_kernel_table() noexcept;

// The choice of this process, made at the first call. CULVERT_KERNEL_AEAD names one.
const kernel_selection<aead_kernel>& aead_selection() noexcept;
inline const aead_kernel& best_aead_kernel() noexcept {
    return *aead_selection().kernel;
}

// The known-answer test that a kernel must pass to be chosen.
bool passes_test(const aead_kernel& kernel) noexcept;

}  // namespace culvert::crypto
