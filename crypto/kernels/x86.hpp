// The kernels for x86-64.
#pragma once

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/target.hpp"

#if CULVERT_X86
namespace culvert::crypto {

extern const aead_kernel aead_avx512;
extern const chacha20_kernel chacha20_avx512;
extern const poly1305_kernel poly1305_avx512;
extern const aead_kernel aead_avx2;
extern const chacha20_kernel chacha20_avx2;
extern const poly1305_kernel poly1305_avx2;

}  // namespace culvert::crypto
#endif
