#include "crypto/kernels/chacha20.hpp"

#include "crypto/kernels/aarch64.hpp"
#include "crypto/kernels/known_answer.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/kernels/x86.hpp"

namespace culvert::crypto {

std::span<const chacha20_kernel> chacha20_kernels() noexcept {
#if CULVERT_X86
    static const std::array table{chacha20_avx512, chacha20_avx2, chacha20_portable};
#elif CULVERT_AARCH64
    static const std::array table{chacha20_neon, chacha20_portable};
#else
    static const std::array table{chacha20_portable};
#endif
    return table;
}

const kernel_selection<chacha20_kernel>& chacha20_selection() noexcept {
    static const auto selection = select_kernel<chacha20_kernel>(
        chacha20_kernels(), std::getenv("CULVERT_KERNEL_CHACHA20"), passes_test);
    return selection;
}

// The last 37 blocks of a stream, in place: a prime number of them, so that every width is entered
// and left, and counters that carry in every addition. Key 00 … 1f, nonce 40 … 4b; the answer is
// libsodium's.
bool passes_test(const chacha20_kernel& kernel) noexcept {
    constexpr std::size_t blocks = 37;
    chacha20_words state{0x61707865,
                         0x3320646e,
                         0x79622d32,
                         0x6b206574,
                         0x03020100,
                         0x07060504,
                         0x0b0a0908,
                         0x0f0e0d0c,
                         0x13121110,
                         0x17161514,
                         0x1b1a1918,
                         0x1f1e1d1c,
                         0 - std::uint32_t{blocks},
                         0x43424140,
                         0x47464544,
                         0x4b4a4948};
    chacha20_words after = state;
    after[12] = 0;

    std::array<std::uint8_t, 64 * blocks> text;
    detail::fill_pattern(text);
    kernel.xor_blocks(state, text.data(), text.data(), blocks);
    return state == after && detail::checksum(text) == 0x728d77a53a69b647;
}

}  // namespace culvert::crypto
