// One block after the other with 64 × 64 → 128-bit products.

#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "crypto/kernels/portable.hpp"

namespace culvert::crypto {
namespace {

void mac_blocks(poly1305_state& state, const std::uint8_t* in, std::size_t blocks) noexcept {
    detail::authenticate_singly(state, in, blocks);
}

}  // namespace

constinit const poly1305_kernel poly1305_portable{"portable", []() noexcept { return true; },
                                                  mac_blocks, 1};

}  // namespace culvert::crypto
