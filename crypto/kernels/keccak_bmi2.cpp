#include "crypto/kernels/cpu.hpp"
#include "crypto/kernels/keccak_scalar.hpp"
#include "crypto/kernels/keccak_x86.hpp"
#include "crypto/kernels/target.hpp"

namespace culvert::crypto {

CULVERT_TARGET_BMI2 void keccak::permute_bmi2(keccak_lanes& lanes) noexcept {
    permute_scalar(lanes);
}

namespace {

void permute_n(std::uint64_t* lanes, std::size_t states) noexcept {
    for (std::size_t i = 0; i < states; ++i)
        keccak::permute_column<keccak::permute_bmi2>(lanes, states, i);
}

}  // namespace

constinit const keccak_kernel keccak_bmi2{"bmi2", []() noexcept { return cpu().bmi2; },
                                          keccak::permute_bmi2,
                                          keccak::absorb_blocks<keccak::permute_bmi2>, permute_n};

}  // namespace culvert::crypto
