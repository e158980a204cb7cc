// The vector instructions of the CPU at hand as functions: <arm_neon.h>, or <immintrin.h> without
// the warnings that g++ 12 has about its own text (GCC bug 105593).
#pragma once

#include "crypto/kernels/target.hpp"

#if CULVERT_X86
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#elif CULVERT_AARCH64
#include <arm_neon.h>
#endif
