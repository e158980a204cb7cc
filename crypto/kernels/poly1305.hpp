// The seam of Poly1305: what a kernel must do, and the table of kernels.
#pragma once

#include <array>
#include <span>

#include "crypto/bytes.hpp"
#include "crypto/kernels/selection.hpp"

namespace culvert::crypto {

// The accumulator h < 2^130 + 2^67 and the clamped multiplier r < 2^124, least word first. This
// form is the same for all kernels: one that works with other limbs converts on the way in and out.
struct poly1305_state {
    std::array<std::uint64_t, 2> r;
    std::array<std::uint64_t, 3> h;  // h[2] ≤ 4
};

struct poly1305_kernel {
    const char* name;
    bool (*supported)() noexcept;

    // h = (h + block + 2^128) · r mod 2^130 − 5, for `blocks` blocks of 16 bytes (0 allowed,
    // unaligned) one after the other (RFC 8439 §2.5.1).
    void (*mac_blocks)(poly1305_state& state, const std::uint8_t* in, std::size_t blocks) noexcept;

    // What a call handles best at once, in blocks.
    std::size_t width;
};

// All kernels of this build, best first, portable last.
std::span<const poly1305_kernel> poly1305_kernels() noexcept;

// The choice of this process, made at the first call. CULVERT_KERNEL_POLY1305 names one.
const kernel_selection<poly1305_kernel>& poly1305_selection() noexcept;
inline const poly1305_kernel& best_poly1305_kernel() noexcept {
    return *poly1305_selection().kernel;
}

// The known-answer test that a kernel must pass to be chosen.
bool passes_test(const poly1305_kernel& kernel) noexcept;

}  // namespace culvert::crypto
