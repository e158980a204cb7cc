#include "crypto/kernels/cpu.hpp"

#include <cstdint>

#include "crypto/kernels/target.hpp"

#if CULVERT_X86
#include <cpuid.h>
#elif CULVERT_AARCH64
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace culvert::crypto {
namespace {

#if CULVERT_X86

constexpr bool all_of(std::uint32_t bits, std::uint32_t wanted) noexcept {
    return (bits & wanted) == wanted;
}

// XCR0: the register files that the operating system saves when it switches threads; 0 when it
// saves none of those that programs may not use unasked.
std::uint32_t kept_registers() noexcept {
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !all_of(c, bit_OSXSAVE | bit_AVX)) return 0;
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

cpu_features probe() noexcept {
    constexpr std::uint32_t ymm = 0x06;  // with the xmm registers below
    constexpr std::uint32_t zmm = 0xe6;  // with the mask registers and zmm16 … zmm31
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
    const std::uint32_t kept = kept_registers();
    cpu_features found;
    found.bmi2 = all_of(b, bit_BMI | bit_BMI2);
    found.avx2 = found.bmi2 && all_of(b, bit_AVX2) && all_of(kept, ymm);
    found.avx512vl = all_of(b, bit_AVX512F | bit_AVX512VL) && all_of(kept, zmm);
    found.avx512 = found.avx2 && found.avx512vl &&
                   all_of(b, bit_AVX512DQ | bit_AVX512IFMA | bit_AVX512BW) &&
                   all_of(c, bit_AVX512VBMI2);
    return found;
}

#elif CULVERT_AARCH64

cpu_features probe() noexcept {
    cpu_features found;
    found.sha3 = (::getauxval(AT_HWCAP) & HWCAP_SHA3) != 0;
    return found;
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
