// Two chains of Poly1305 for the scalar units, which are idle half of the time with one. The first
// takes the first half of the text, the second, which begins at zero, the second half.
#pragma once

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/poly1305_limbs.hpp"

namespace culvert::crypto {

// r^(2^Doublings), made once for a multiplier; three words of the powers. A kernel has one number
// of doublings.
template <int Doublings>
CULVERT_PART scalar_limbs power_of_two(aead_state& state) noexcept {
    auto& words = state.powers.words;
    if (state.powers.made != poly1305_powers::extent::all) {
        scalar_limbs power = limbs_of(state.mac.r[0], state.mac.r[1], 0);
        for (int i = 0; i < Doublings; ++i) power = product(power, power);
        words = {power.l0, power.l1, power.l2};
        state.powers.made = poly1305_powers::extent::all;
    }
    return {words[0], words[1], words[2]};
}

// Joins chains of 2^Doublings blocks each: state.mac.h = first · r^(2^Doublings) + second.
template <int Doublings>
CULVERT_PART void join_chains(aead_state& state, const std::array<std::uint64_t, 3>& first,
                              const std::array<std::uint64_t, 3>& second) noexcept {
    const scalar_limbs moved =
        product(limbs_of(first[0], first[1], first[2]), power_of_two<Doublings>(state));
    const scalar_limbs rest = limbs_of(second[0], second[1], second[2]);
    store_limbs(state.mac, {moved.l0 + rest.l0, moved.l1 + rest.l1, moved.l2 + rest.l2});
}

}  // namespace culvert::crypto
