// The seam of Keccak-f[1600]: what a kernel must do, and the table of kernels.
#pragma once

#include <array>
#include <span>

#include "crypto/bytes.hpp"
#include "crypto/kernels/selection.hpp"

namespace culvert::crypto {

// FIPS 202 §3.1.2: lane (x, y) is word x + 5·y; byte i of the state is byte i mod 8 of word i / 8.
using keccak_lanes = std::array<std::uint64_t, 25>;

struct keccak_kernel {
    const char* name;
    bool (*supported)() noexcept;

    // Keccak-f[1600], 24 rounds (FIPS 202 §3.3).
    void (*permute)(keccak_lanes& lanes) noexcept;

    // For `blocks` blocks of `rate` bytes (a multiple of 8 below 200): xor the block into the first
    // lanes, then permute.
    void (*absorb_blocks)(keccak_lanes& lanes, const std::uint8_t* in, std::size_t rate,
                          std::size_t blocks) noexcept;

    // Keccak-f[1600] of `states` states at once (0: none), which lie side by side: lane i of state
    // j is word i·states + j, so one state lies as above. Several take hardly longer than one.
    void (*permute_n)(std::uint64_t* lanes, std::size_t states) noexcept;
};

// All kernels of this build, best first, portable last.
std::span<const keccak_kernel> keccak_kernels() noexcept;

// The choice of this process, made at the first call. CULVERT_KERNEL_KECCAK names one.
const kernel_selection<keccak_kernel>& keccak_selection() noexcept;
inline const keccak_kernel& best_keccak_kernel() noexcept {
    return *keccak_selection().kernel;
}

// The known-answer test that a kernel must pass to be chosen.
bool passes_test(const keccak_kernel& kernel) noexcept;

}  // namespace culvert::crypto
