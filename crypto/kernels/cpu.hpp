// What this CPU and its operating system can run, found out once.
#pragma once

namespace culvert::crypto {

struct cpu_features {
    // x86-64
    bool bmi2 = false;      // BMI1 and BMI2
    bool avx2 = false;      // AVX2, BMI1 and BMI2, and the system keeps the 256-bit registers
    bool avx512vl = false;  // AVX-512 F and VL, and the system keeps the 512-bit and mask registers
    bool avx512 = false;    // that and BW, DQ, IFMA, VBMI2, and avx2

    // aarch64
    bool sha3 = false;  // EOR3, RAX1, XAR, BCAX
};

const cpu_features& cpu() noexcept;

}  // namespace culvert::crypto
