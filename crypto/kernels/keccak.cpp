#include "crypto/kernels/keccak.hpp"

#include "crypto/kernels/known_answer.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/kernels/target.hpp"

#if CULVERT_X86
#include "crypto/kernels/keccak_x86.hpp"
#elif CULVERT_AARCH64
#include "crypto/kernels/keccak_aarch64.hpp"
#endif

namespace culvert::crypto {

std::span<const keccak_kernel> keccak_kernels() noexcept {
    static const std::array table {
#if CULVERT_X86
        keccak_avx512, keccak_avx2, keccak_bmi2,
#elif CULVERT_AARCH64
        keccak_sha3,
#endif
            keccak_portable
    };
    return table;
}

const kernel_selection<keccak_kernel>& keccak_selection() noexcept {
    static const auto selection = select_kernel<keccak_kernel>(
        keccak_kernels(), std::getenv("CULVERT_KERNEL_KECCAK"), passes_test);
    return selection;
}

namespace {

bytes_view as_bytes(std::span<const std::uint64_t> lanes) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(lanes.data()), lanes.size_bytes()};
}

// The zero state permuted twice, then 7 blocks of 136 bytes.
bool passes_test_of_one(const keccak_kernel& kernel) noexcept {
    constexpr std::size_t rate = 136;
    constexpr std::size_t blocks = 7;
    std::array<std::uint8_t, rate * blocks> text;
    detail::fill_pattern(text);

    keccak_lanes lanes{};
    kernel.permute(lanes);
    kernel.permute(lanes);
    kernel.absorb_blocks(lanes, text.data(), rate, blocks);
    return detail::checksum(as_bytes(lanes)) == 0x8c4fe8a92afbb487;
}

// As many states as make every kind of pass that a kernel may have, one call after the other in
// the same memory.
bool passes_test_of_several(const keccak_kernel& kernel) noexcept {
    std::array<std::uint64_t, 15 * 25> lanes;
    detail::fill_pattern({reinterpret_cast<std::uint8_t*>(lanes.data()), sizeof lanes});
    for (const std::size_t states : std::array<std::size_t, 6>{15, 5, 4, 3, 2, 1})
        kernel.permute_n(lanes.data(), states);
    return detail::checksum(as_bytes(lanes)) == 0x316be2a546402a66;
}

}  // namespace

// The answers are from an implementation in plain Python that agrees with hashlib's SHAKE256.
bool passes_test(const keccak_kernel& kernel) noexcept {
    return passes_test_of_one(kernel) && passes_test_of_several(kernel);
}

}  // namespace culvert::crypto
