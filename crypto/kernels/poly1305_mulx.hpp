// One block of Poly1305 with the scalar multiplication of BMI2: for kernels. The same arithmetic as
// detail::add_block and detail::multiply, written out because compilers keep wide sums in memory.
#pragma once

#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "crypto/kernels/target.hpp"

#if CULVERT_X86

namespace culvert::crypto {

// r and, for 2^128 · r[1], 5/4 of its upper word.
struct mulx_multiplier {
    CULVERT_PART explicit mulx_multiplier(const poly1305_state& mac) noexcept
        : r0(mac.r[0]), r1(mac.r[1]), folded(mac.r[1] + (mac.r[1] >> 2)) {}
    std::uint64_t r0, r1, folded;
};

// h = (h + block + 2^128) · r. h[2] ≤ 4 before and after.
CULVERT_PART void mulx_block(std::array<std::uint64_t, 3>& h, const mulx_multiplier& r,
                             const std::uint8_t* in) noexcept {
    std::uint64_t carry, middle, top, low;
    __asm__ volatile(
        "addq (%[in]), %[h0]\n\tadcq 8(%[in]), %[h1]\n\tadcq $1, %[h2]\n\t"
        // h0 : carry = h0 · r0 + h1 · folded; middle : top = h0 · r1 + h1 · r0 + h2 · folded
        "movq %[h0], %%rdx\n\tmulxq %[r0], %[h0], %[carry]\n\tmulxq %[r1], %[middle], %[top]\n\t"
        "movq %[h1], %%rdx\n\tmulxq %[folded], %[low], %[h1]\n\t"
        "addq %[low], %[h0]\n\tadcq %[h1], %[carry]\n\t"
        "mulxq %[r0], %[low], %[h1]\n\taddq %[low], %[middle]\n\tadcq %[h1], %[top]\n\t"
        "movq %[h2], %%rdx\n\timulq %[folded], %%rdx\n\timulq %[r0], %[h2]\n\t"
        "addq %%rdx, %[middle]\n\tadcq $0, %[top]\n\t"
        "addq %[carry], %[middle]\n\tadcq %[top], %[h2]\n\t"
        // What is above bit 130 comes back five times at the bottom.
        "movq %[h2], %[low]\n\tmovq %[h2], %[carry]\n\tandq $-4, %[low]\n\tshrq $2, %[carry]\n\t"
        "andl $3, %k[h2]\n\taddq %[low], %[carry]\n\tmovq %[middle], %[h1]\n\t"
        "addq %[carry], %[h0]\n\tadcq $0, %[h1]\n\tadcq $0, %[h2]"
        : [h0] "+&r"(h[0]), [h1] "+&r"(h[1]), [h2] "+&r"(h[2]), [carry] "=&r"(carry),
          [middle] "=&r"(middle), [top] "=&r"(top), [low] "=&r"(low)
        : [in] "r"(in), [r0] "m"(r.r0), [r1] "m"(r.r1), [folded] "m"(r.folded),
          "m"(*reinterpret_cast<const std::uint8_t(*)[16]>(in))
        : "rdx", "cc");
}

CULVERT_PART void mulx_blocks(poly1305_state& mac, const std::uint8_t* in,
                              std::size_t blocks) noexcept {
    const mulx_multiplier r(mac);
    std::array<std::uint64_t, 3> h = mac.h;
    for (; blocks != 0; --blocks, in += 16) mulx_block(h, r, in);
    mac.h = h;
}

}  // namespace culvert::crypto

#endif
