// The kernels of Keccak-f[1600] for x86-64.
#pragma once

#include "crypto/kernels/keccak.hpp"

namespace culvert::crypto {

extern const keccak_kernel keccak_avx512;
extern const keccak_kernel keccak_avx2;
extern const keccak_kernel keccak_bmi2;

namespace keccak {
// One state in scalar registers; the AVX2 kernel has nothing better for one.
void permute_bmi2(keccak_lanes& lanes) noexcept;
}  // namespace keccak

}  // namespace culvert::crypto
