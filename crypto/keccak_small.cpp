#include "crypto/keccak_small.hpp"

#include <cassert>

#include "crypto/kernels/keccak_constants.hpp"

namespace culvert::crypto {
namespace {

template <class Lane>
Lane rotl(Lane lane, int bits) noexcept {
    return std::rotl(lane, bits % static_cast<int>(8 * sizeof(Lane)));
}

template <class Lane>
Lane xor_of(Lane a, Lane b) noexcept {
    return static_cast<Lane>(a ^ b);  // narrow lanes are computed as int
}

template <class Lane>
void theta(keccak_state<Lane>& a) noexcept {
    std::array<Lane, 5> c{};
    for (std::size_t i = 0; i < 25; ++i) c[i % 5] = xor_of(c[i % 5], a[i]);
    for (std::size_t i = 0; i < 25; ++i) {
        const std::size_t x = i % 5;
        a[i] = xor_of(a[i], xor_of(c[(x + 4) % 5], rotl(c[(x + 1) % 5], 1)));
    }
}

template <class Lane>
keccak_state<Lane> rho_and_pi(const keccak_state<Lane>& a) noexcept {
    keccak_state<Lane> out;
    for (std::size_t i = 0; i < 25; ++i) {
        const std::size_t from = keccak::pi_source(i % 5, i / 5);
        out[i] = rotl(a[from], keccak::rotations[from]);
    }
    return out;
}

template <class Lane>
void chi(const keccak_state<Lane>& b, keccak_state<Lane>& out) noexcept {
    for (std::size_t i = 0; i < 25; ++i) {
        const std::size_t x = i % 5;
        const std::size_t row = i - x;
        const auto both = static_cast<Lane>(~b[row + (x + 1) % 5] & b[row + (x + 2) % 5]);
        out[i] = xor_of(b[i], both);
    }
}

}  // namespace

template <class Lane>
void keccak_p(keccak_state<Lane>& state, unsigned rounds) noexcept {
    assert(rounds <= keccak_f_rounds<Lane>);
    for (unsigned i = keccak_f_rounds<Lane> - rounds; i < keccak_f_rounds<Lane>; ++i) {
        theta(state);
        chi(rho_and_pi(state), state);
        state[0] = xor_of(state[0], static_cast<Lane>(keccak::round_constants[i]));
    }
}

template void keccak_p(keccak_state<std::uint8_t>& state, unsigned rounds) noexcept;
template void keccak_p(keccak_state<std::uint16_t>& state, unsigned rounds) noexcept;
template void keccak_p(keccak_state<std::uint32_t>& state, unsigned rounds) noexcept;
template void keccak_p(keccak_state<std::uint64_t>& state, unsigned rounds) noexcept;

}  // namespace culvert::crypto
