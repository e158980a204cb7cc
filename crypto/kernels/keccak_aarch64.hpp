// The kernels of Keccak-f[1600] for aarch64.
#pragma once

#include "crypto/kernels/keccak.hpp"

namespace culvert::crypto {

extern const keccak_kernel keccak_sha3;

}  // namespace culvert::crypto
