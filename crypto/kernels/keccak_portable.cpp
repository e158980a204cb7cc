#include "crypto/kernels/keccak_scalar.hpp"
#include "crypto/kernels/portable.hpp"

namespace culvert::crypto {
namespace {

void permute(keccak_lanes& lanes) noexcept {
    keccak::permute_scalar(lanes);
}

void permute_n(std::uint64_t* lanes, std::size_t states) noexcept {
    for (std::size_t i = 0; i < states; ++i) keccak::permute_column<permute>(lanes, states, i);
}

}  // namespace

constinit const keccak_kernel keccak_portable{"portable", []() noexcept { return true; }, permute,
                                              keccak::absorb_blocks<permute>, permute_n};

}  // namespace culvert::crypto
