#include "crypto/kernels/poly1305.hpp"

#include "crypto/kernels/known_answer.hpp"
#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/kernels/x86.hpp"

namespace culvert::crypto {

std::span<const poly1305_kernel> poly1305_kernels() noexcept {
#if CULVERT_X86
    static const std::array table{poly1305_avx512, poly1305_avx2, poly1305_portable};
#else
    static const std::array table{poly1305_portable};
#endif
    return table;
}

const kernel_selection<poly1305_kernel>& poly1305_selection() noexcept {
    static const auto selection = select_kernel<poly1305_kernel>(
        poly1305_kernels(), std::getenv("CULVERT_KERNEL_POLY1305"), passes_test);
    return selection;
}

// 35 blocks of one bits under the largest multiplier, where every limb and carry is as large as it
// gets, then 37 mixed ones in a second call. The answer is from big integers and libsodium's.
bool passes_test(const poly1305_kernel& kernel) noexcept {
    constexpr std::size_t ones = 35;
    constexpr std::size_t mixed = 37;
    constexpr poly1305_state right{{}, {0xc96f8713cd9058ae, 0x795f8f026dec80bb, 3}};

    std::array<std::uint8_t, 16 * (ones + mixed)> text;
    text.fill(0xff);
    detail::fill_pattern(bytes(text).last<16 * mixed>());
    poly1305_state state{{0x0ffffffc0fffffff, 0x0ffffffc0ffffffc}, {}};
    kernel.mac_blocks(state, text.data(), ones);
    kernel.mac_blocks(state, text.data() + 16 * ones, mixed);
    detail::reduce(state);
    return state.h == right.h;
}

}  // namespace culvert::crypto
