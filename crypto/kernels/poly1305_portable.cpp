// One block after the other with 64 × 64 → 128-bit products.

#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "crypto/kernels/portable.hpp"

namespace culvert::crypto {
namespace {

constexpr std::size_t block_size = 16;

void mac_blocks(poly1305_state& state, const std::uint8_t* in, std::size_t blocks) noexcept {
    poly1305_state working = state;  // in registers: `in` might alias the state
    for (; blocks != 0; --blocks, in += block_size) {
        detail::add_block(working, load64_le(in), load64_le(in + 8), 1);
        detail::multiply(working);
    }
    state = working;
}

}  // namespace

constinit const poly1305_kernel poly1305_portable{"portable", []() noexcept { return true; },
                                                  mac_blocks, 1};

}  // namespace culvert::crypto
