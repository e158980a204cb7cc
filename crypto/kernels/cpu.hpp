// What this CPU can do and the operating system keeps for us: the library's only global state.
#pragma once

namespace culvert::crypto {

struct cpu_features {
    // x86-64
    bool bmi2 = false;     // BMI1 and BMI2
    bool avx2 = false;     // with the ymm registers kept by the system
    bool avx512f = false;  // with the zmm and mask registers kept by the system
    bool avx512vl = false;
    bool avx512dq = false;
    bool avx512bw = false;
    bool avx512ifma = false;
    bool avx512vbmi = false;

    // aarch64
    bool neon = false;
    bool sha3 = false;  // EOR3, RAX1, XAR, BCAX
};

// Probed once, at the first call.
const cpu_features& cpu() noexcept;

}  // namespace culvert::crypto
