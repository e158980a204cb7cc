#include "crypto/kernels/cpu.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace culvert::crypto {
namespace {

#if defined(__x86_64__)

constexpr bool bit(std::uint32_t word, unsigned number) noexcept {
    return (word >> number & 1) != 0;
}

// The registers that the system saves and restores, by component; 0 when it does not say.
std::uint32_t kept_registers() noexcept {
    std::uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !bit(c, 27)) return 0;
    std::uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

cpu_features probe() noexcept {
    constexpr std::uint32_t ymm = 0x06;  // xmm and the upper halves of ymm
    constexpr std::uint32_t zmm = 0xe6;  // those, the masks and the rest of zmm
    cpu_features found;
    std::uint32_t a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
    found.bmi2 = bit(b, 3) && bit(b, 8);
    const std::uint32_t kept = kept_registers();
    found.avx2 = (kept & ymm) == ymm && bit(b, 5);
    if ((kept & zmm) != zmm) return found;
    found.avx512f = bit(b, 16);
    found.avx512vl = bit(b, 31);
    found.avx512dq = bit(b, 17);
    found.avx512bw = bit(b, 30);
    found.avx512ifma = bit(b, 21);
    found.avx512vbmi = bit(c, 1);
    return found;
}

#elif defined(__aarch64__)

cpu_features probe() noexcept {
    const unsigned long capabilities = ::getauxval(AT_HWCAP);
    cpu_features found;
    found.neon = (capabilities & HWCAP_ASIMD) != 0;
    found.sha3 = (capabilities & HWCAP_SHA3) != 0;
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
