// The kernels that every CPU runs; they stand last in the tables.
#pragma once

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/chacha20.hpp"
#include "crypto/kernels/keccak.hpp"
#include "crypto/kernels/poly1305.hpp"

namespace culvert::crypto {

extern const aead_kernel aead_portable;
extern const chacha20_kernel chacha20_portable;
extern const poly1305_kernel poly1305_portable;
extern const keccak_kernel keccak_portable;

}  // namespace culvert::crypto
