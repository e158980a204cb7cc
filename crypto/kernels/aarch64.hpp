// The kernels for aarch64.
#pragma once

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/target.hpp"

#if CULVERT_AARCH64
namespace culvert::crypto {

extern const aead_kernel aead_neon;
extern const chacha20_kernel chacha20_neon;

}  // namespace culvert::crypto
#endif
