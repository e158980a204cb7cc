// What this CPU and its operating system can run, found out once.
#pragma once

namespace culvert::crypto {

struct cpu_features {
    bool avx2;    // AVX2, BMI1 and BMI2, and the system keeps the 256-bit registers
    bool avx512;  // AVX-512 F, VL, BW, DQ, IFMA and VBMI2 above that, with their registers kept
};

const cpu_features& cpu() noexcept;

}  // namespace culvert::crypto
