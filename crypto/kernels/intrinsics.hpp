// <immintrin.h> without the warnings that g++ 12 has about its own text (GCC bug 105593).
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
#endif
