// Keccak's round in general registers: theta as five column parities, then rho, pi and chi row by
// row into a second state. Without intrinsics, so that what inlines it chooses the instructions
// (andn and rorx where the CPU has them), and for lanes of any size. Its users are compiled without
// automatic vectorisation, which makes it up to twice as slow.
#pragma once

#include <bit>

#include "crypto/kernels/keccak_constants.hpp"

namespace culvert::crypto::keccak {
namespace scalar {

// Lanes below 32 bits are computed as int; what that leaves above them is cut off where a lane is
// stored or rotated.

template <class Lane>
using state = std::array<Lane, 25>;

template <class Lane>
struct columns {
    Lane of[5];
};

template <int Bits, class Lane>
[[gnu::always_inline]] inline Lane rotl(Lane lane) noexcept {
    return std::rotl(lane, Bits % static_cast<int>(8 * sizeof(Lane)));
}

template <std::size_t X, class Lane>
[[gnu::always_inline]] inline Lane parity(const state<Lane>& a) noexcept {
    return static_cast<Lane>(a[X] ^ a[X + 5] ^ a[X + 10] ^ a[X + 15] ^ a[X + 20]);
}

template <std::size_t X, class Lane>
[[gnu::always_inline]] inline Lane mixed(const columns<Lane>& c) noexcept {
    return static_cast<Lane>(c.of[(X + 4) % 5] ^ rotl<1>(c.of[(X + 1) % 5]));
}

// What theta xors into each column (FIPS 202 §3.2.1).
template <class Lane>
[[gnu::always_inline]] inline columns<Lane> theta(const state<Lane>& a) noexcept {
    const columns<Lane> c{{parity<0>(a), parity<1>(a), parity<2>(a), parity<3>(a), parity<4>(a)}};
    return {{mixed<0>(c), mixed<1>(c), mixed<2>(c), mixed<3>(c), mixed<4>(c)}};
}

template <std::size_t X, std::size_t Y, class Lane>
[[gnu::always_inline]] inline Lane moved_lane(const state<Lane>& a,
                                              const columns<Lane>& d) noexcept {
    constexpr std::size_t from = pi_source(X, Y);
    return rotl<rotations[from]>(static_cast<Lane>(a[from] ^ d.of[from % 5]));
}

template <class Lane>
[[gnu::always_inline]] inline Lane chi(Lane a, Lane b, Lane c) noexcept {
    return static_cast<Lane>(a ^ (~b & c));
}

// Row Y after rho, pi and chi (FIPS 202 §3.2.4).
template <std::size_t Y, class Lane>
[[gnu::always_inline]] inline void row(const state<Lane>& a, const columns<Lane>& d,
                                       state<Lane>& out) noexcept {
    const Lane b0 = moved_lane<0, Y>(a, d);
    const Lane b1 = moved_lane<1, Y>(a, d);
    const Lane b2 = moved_lane<2, Y>(a, d);
    const Lane b3 = moved_lane<3, Y>(a, d);
    const Lane b4 = moved_lane<4, Y>(a, d);
    out[5 * Y + 0] = chi(b0, b1, b2);
    out[5 * Y + 1] = chi(b1, b2, b3);
    out[5 * Y + 2] = chi(b2, b3, b4);
    out[5 * Y + 3] = chi(b3, b4, b0);
    out[5 * Y + 4] = chi(b4, b0, b1);
}

template <class Lane>
[[gnu::always_inline]] inline void one_round(const state<Lane>& a, state<Lane>& out,
                                             std::uint64_t constant) noexcept {
    const columns<Lane> d = theta(a);
    row<0>(a, d, out);
    out[0] = static_cast<Lane>(out[0] ^ constant);
    row<1>(a, d, out);
    row<2>(a, d, out);
    row<3>(a, d, out);
    row<4>(a, d, out);
}

}  // namespace scalar

[[gnu::always_inline]] inline void permute_scalar(keccak_lanes& lanes) noexcept {
    keccak_lanes working = lanes;
    keccak_lanes other;
    for (std::size_t i = 0; i < round_constants.size(); i += 2) {
        scalar::one_round(working, other, round_constants[i]);
        scalar::one_round(other, working, round_constants[i + 1]);
    }
    lanes = working;
}

}  // namespace culvert::crypto::keccak
