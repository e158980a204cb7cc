#include "crypto/kernels/keccak.hpp"

#include "crypto/kernels/known_answer.hpp"
#include "crypto/kernels/portable.hpp"

namespace culvert::crypto {

std::span<const keccak_kernel> keccak_kernels() noexcept {
    static const std::array table{keccak_portable};
    return table;
}

const kernel_selection<keccak_kernel>& keccak_selection() noexcept {
    static const auto selection = select_kernel<keccak_kernel>(
        keccak_kernels(), std::getenv("CULVERT_KERNEL_KECCAK"), passes_test);
    return selection;
}

// The zero state permuted twice, then 7 blocks of 136 bytes. The answer is from an implementation
// in plain Python that agrees with hashlib's SHAKE256.
bool passes_test(const keccak_kernel& kernel) noexcept {
    constexpr std::size_t rate = 136;
    constexpr std::size_t blocks = 7;
    std::array<std::uint8_t, rate * blocks> text;
    detail::fill_pattern(text);

    keccak_lanes lanes{};
    kernel.permute(lanes);
    kernel.permute(lanes);
    kernel.absorb_blocks(lanes, text.data(), rate, blocks);
    return detail::checksum({reinterpret_cast<const std::uint8_t*>(lanes.data()), sizeof lanes}) ==
           0x8c4fe8a92afbb487;
}

}  // namespace culvert::crypto
