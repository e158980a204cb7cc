#include "crypto/keccak_small.hpp"

#include <cassert>

#include "crypto/kernels/keccak_scalar.hpp"

namespace culvert::crypto {

template <class Lane>
void keccak_p(keccak_state<Lane>& state, unsigned rounds) noexcept {
    assert(rounds <= keccak_f_rounds<Lane>);
    for (unsigned i = keccak_f_rounds<Lane> - rounds; i < keccak_f_rounds<Lane>; ++i) {
        keccak_state<Lane> next;
        keccak::scalar::one_round(state, next, keccak::round_constants[i]);
        state = next;
    }
}

template void keccak_p(keccak_state<std::uint8_t>& state, unsigned rounds) noexcept;
template void keccak_p(keccak_state<std::uint16_t>& state, unsigned rounds) noexcept;
template void keccak_p(keccak_state<std::uint32_t>& state, unsigned rounds) noexcept;
template void keccak_p(keccak_state<std::uint64_t>& state, unsigned rounds) noexcept;

}  // namespace culvert::crypto
