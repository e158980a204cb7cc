#include "crypto/kernels/cpu.hpp"

#include <cstdint>

#include "crypto/kernels/target.hpp"

#if CULVERT_X86
#include <cpuid.h>
#endif

namespace culvert::crypto {
namespace {

#if CULVERT_X86

constexpr bool all_of(std::uint32_t bits, std::uint32_t wanted) noexcept {
    return (bits & wanted) == wanted;
}

// XCR0: the register files that the operating system saves when it switches threads.
std::uint32_t kept_registers() noexcept {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

cpu_features probe() noexcept {
    constexpr std::uint32_t ymm = 0x06;  // with the xmm registers below
    constexpr std::uint32_t zmm = 0xe6;  // with the mask registers and zmm16 … zmm31
    constexpr std::uint32_t avx2_bits = bit_BMI | bit_AVX2 | bit_BMI2;
    constexpr std::uint32_t avx512_bits =
        bit_AVX512F | bit_AVX512DQ | bit_AVX512IFMA | bit_AVX512BW | bit_AVX512VL;
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !all_of(c, bit_OSXSAVE | bit_AVX)) return {};
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
    const std::uint32_t kept = kept_registers();
    const bool avx2 = all_of(b, avx2_bits) && all_of(kept, ymm);
    return {avx2,
            avx2 && all_of(b, avx512_bits) && all_of(c, bit_AVX512VBMI2) && all_of(kept, zmm)};
}

#else

cpu_features probe() noexcept {
    return {};
}

#endif

}  // namespace

const cpu_features& cpu() noexcept {
    static const cpu_features features = probe();
    return features;
}

}  // namespace culvert::crypto
