#include "crypto/kernels/aead.hpp"

#include <algorithm>

#include "crypto/kernels/aarch64.hpp"
#include "crypto/kernels/known_answer.hpp"
#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/kernels/x86.hpp"

namespace culvert::crypto {
namespace {

// Five runs, each path after the other, with counters that pass 2^32 and the largest multiplier.
// Gives the checksum of all that was written and of the state.
std::uint64_t trial(const aead_kernel& kernel, block<5 * aead_run> text) noexcept {
    aead_state state;
    detail::fill_pattern({reinterpret_cast<std::uint8_t*>(state.cipher.data()), 64});
    state.cipher[12] = 0 - std::uint32_t{70};
    state.mac = {{0x0ffffffc0fffffff, 0x0ffffffc0ffffffc}, {}};
    state.powers.made = poly1305_powers::extent::none;

    std::array<std::uint8_t, 64 * (aead_run_blocks + 2)> stream{};
    kernel.keystream(state.cipher, stream.data(), aead_run_blocks + 1);
    std::uint64_t sum = detail::checksum(stream);
    detail::fill_pattern(text.first<2 * aead_run>());
    std::fill(text.begin() + 2 * aead_run, text.end(), std::uint8_t{0xff});
    kernel.authenticate(state, text.data() + 3 * aead_run, 135);
    kernel.seal_piece(stream.data(), text.data(), text.data(), 333);
    kernel.open_piece(stream.data() + 333, text.data() + 333, text.data() + 333, 1111);
    kernel.seal_runs(state, text.data() + 3 * aead_run, text.data(), text.data(), 2);
    kernel.open_runs(state, text.data() + 2 * aead_run, text.data() + 2 * aead_run, 2);
    kernel.renew(state, text.data() + 4 * aead_run, text.data() + 4 * aead_run);
    kernel.authenticate(state, text.data(), 7);
    sum ^= 3 * detail::checksum(stream) ^ 5 * detail::checksum(text);
    detail::reduce(state.mac);
    return sum ^ 7 * state.mac.h[0] ^ 11 * state.mac.h[1] ^ 13 * state.mac.h[2] ^ state.cipher[12];
}

}  // namespace

std::span<const aead_kernel> aead_kernel_table() noexcept {
#if CULVERT_X86
    static const std::array table{aead_avx512, aead_avx2, aead_portable};
#elif CULVERT_AARCH64
    static const std::array table{aead_neon, aead_portable};
#else
    static const std::array table{aead_portable};
#endif
    return table;
}

const kernel_selection<aead_kernel>& aead_selection() noexcept {
    static const auto selection = select_kernel<aead_kernel>(
        aead_kernel_table(), std::getenv("CULVERT_KERNEL_AEAD"), passes_test);
    return selection;
}

// The answer is the portable kernel's, which the tests hold against libsodium and all published
// vectors.
bool passes_test(const aead_kernel& kernel) noexcept {
    std::array<std::uint8_t, 5 * aead_run> text;
    return trial(kernel, text) == 0xb63b66d93ace66d4;
}

}  // namespace culvert::crypto
