// Keccak-f[1600] in 64-bit registers: theta as five column parities, then rho, pi and chi row by
// row into a second state. Without intrinsics, so that the kernels that inline it choose the
// instructions (andn and rorx where the CPU has them). Their files are compiled without automatic
// vectorisation, which makes this up to twice as slow.
#pragma once

#include <bit>

#include "crypto/kernels/keccak_constants.hpp"

namespace culvert::crypto::keccak {
namespace scalar {

struct columns {
    std::uint64_t of[5];
};

template <std::size_t X>
[[gnu::always_inline]] inline std::uint64_t parity(const keccak_lanes& a) noexcept {
    return a[X] ^ a[X + 5] ^ a[X + 10] ^ a[X + 15] ^ a[X + 20];
}

template <std::size_t X>
[[gnu::always_inline]] inline std::uint64_t mixed(const columns& c) noexcept {
    return c.of[(X + 4) % 5] ^ std::rotl(c.of[(X + 1) % 5], 1);
}

// What theta xors into each column (FIPS 202 §3.2.1).
[[gnu::always_inline]] inline columns theta(const keccak_lanes& a) noexcept {
    const columns c{{parity<0>(a), parity<1>(a), parity<2>(a), parity<3>(a), parity<4>(a)}};
    return {{mixed<0>(c), mixed<1>(c), mixed<2>(c), mixed<3>(c), mixed<4>(c)}};
}

template <std::size_t X, std::size_t Y>
[[gnu::always_inline]] inline std::uint64_t moved_lane(const keccak_lanes& a,
                                                       const columns& d) noexcept {
    constexpr std::size_t from = pi_source(X, Y);
    return std::rotl(a[from] ^ d.of[from % 5], rotations[from]);
}

// Row Y after rho, pi and chi (FIPS 202 §3.2.4).
template <std::size_t Y>
[[gnu::always_inline]] inline void row(const keccak_lanes& a, const columns& d,
                                       keccak_lanes& out) noexcept {
    const std::uint64_t b0 = moved_lane<0, Y>(a, d);
    const std::uint64_t b1 = moved_lane<1, Y>(a, d);
    const std::uint64_t b2 = moved_lane<2, Y>(a, d);
    const std::uint64_t b3 = moved_lane<3, Y>(a, d);
    const std::uint64_t b4 = moved_lane<4, Y>(a, d);
    out[5 * Y + 0] = b0 ^ (~b1 & b2);
    out[5 * Y + 1] = b1 ^ (~b2 & b3);
    out[5 * Y + 2] = b2 ^ (~b3 & b4);
    out[5 * Y + 3] = b3 ^ (~b4 & b0);
    out[5 * Y + 4] = b4 ^ (~b0 & b1);
}

[[gnu::always_inline]] inline void one_round(const keccak_lanes& a, keccak_lanes& out,
                                             std::uint64_t constant) noexcept {
    const columns d = theta(a);
    row<0>(a, d, out);
    out[0] ^= constant;
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
