// Scalar: theta as five column parities, then rho, pi and chi row by row into a second state.

#include <bit>

#include "crypto/kernels/portable.hpp"

namespace culvert::crypto {
namespace {

// FIPS 202 §3.2.5.
constexpr std::array<std::uint64_t, 24> round_constants{
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

// FIPS 202 §3.2.2, by lane x + 5·y.
constexpr std::array<int, 25> rotations{
    0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
};

// FIPS 202 §3.2.3: the lane that pi brings to column x of row y.
constexpr std::size_t pi_source(std::size_t x, std::size_t y) {
    return (x + 3 * y) % 5 + 5 * x;
}

using columns = std::array<std::uint64_t, 5>;

// FIPS 202 §3.2.1: what theta xors into each column.
[[gnu::always_inline]] inline columns theta(const keccak_lanes& a) noexcept {
    columns c;
    for (std::size_t x = 0; x < 5; ++x) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    columns d;
    for (std::size_t x = 0; x < 5; ++x) d[x] = c[(x + 4) % 5] ^ std::rotl(c[(x + 1) % 5], 1);
    return d;
}

template <std::size_t X, std::size_t Y>
[[gnu::always_inline]] inline std::uint64_t moved_lane(const keccak_lanes& a,
                                                       const columns& d) noexcept {
    constexpr std::size_t from = pi_source(X, Y);
    return std::rotl(a[from] ^ d[from % 5], rotations[from]);
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
    row<1>(a, d, out);
    row<2>(a, d, out);
    row<3>(a, d, out);
    row<4>(a, d, out);
    out[0] ^= constant;
}

[[gnu::always_inline]] inline void rounds(keccak_lanes& lanes) noexcept {
    keccak_lanes other;
    for (std::size_t i = 0; i < round_constants.size(); i += 2) {
        one_round(lanes, other, round_constants[i]);
        one_round(other, lanes, round_constants[i + 1]);
    }
}

void permute(keccak_lanes& lanes) noexcept {
    keccak_lanes working = lanes;
    rounds(working);
    lanes = working;
}

void absorb_blocks(keccak_lanes& lanes, const std::uint8_t* in, std::size_t rate,
                   std::size_t blocks) noexcept {
    for (; blocks != 0; --blocks, in += rate) {
        for (std::size_t i = 0; i < rate / 8; ++i) lanes[i] ^= load64_le(in + 8 * i);
        permute(lanes);
    }
}

}  // namespace

constinit const keccak_kernel keccak_portable{"portable", []() noexcept { return true; }, permute,
                                              absorb_blocks};

}  // namespace culvert::crypto
