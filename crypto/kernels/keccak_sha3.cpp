// Keccak-f[1600] with the SHA3 instructions of ARMv8.2: 1 or 2 states a pass.
//
// Register i holds lane i of both states, or of one in its low half. The instructions are Keccak's
// own steps: EOR3 a parity of three lanes, RAX1 what theta xors into a column, XAR that xor with
// rho's rotate, BCAX chi; 66 of them a round. As pi only renames registers, 25 lanes, theta's five
// words and two copies fill all 32.

#include <utility>

#include "crypto/kernels/cpu.hpp"
#include "crypto/kernels/intrinsics.hpp"
#include "crypto/kernels/keccak_aarch64.hpp"
#include "crypto/kernels/keccak_constants.hpp"
#include "crypto/kernels/target.hpp"

namespace culvert::crypto {
namespace {

#define KECCAK_PART CULVERT_TARGET_SHA3 CULVERT_PART

using word = uint64x2_t;

// Lane x + 5·y of both states.
struct state {
    word lane[25];
};

// One word for each of the five columns.
struct columns {
    word of[5];
};

template <std::size_t X>
KECCAK_PART word parity(const state& a) {
    return veor3q_u64(veor3q_u64(a.lane[X], a.lane[X + 5], a.lane[X + 10]), a.lane[X + 15],
                      a.lane[X + 20]);
}

template <std::size_t X>
KECCAK_PART word mixed(const columns& c) {
    return vrax1q_u64(c.of[(X + 4) % 5], c.of[(X + 1) % 5]);
}

// What theta xors into each column (FIPS 202 §3.2.1).
KECCAK_PART columns theta(const state& a) {
    const columns c{{parity<0>(a), parity<1>(a), parity<2>(a), parity<3>(a), parity<4>(a)}};
    return {{mixed<0>(c), mixed<1>(c), mixed<2>(c), mixed<3>(c), mixed<4>(c)}};
}

// The end of theta, rho and pi for one lane (§3.2.2, §3.2.3).
template <std::size_t X, std::size_t Y>
KECCAK_PART word moved_lane(const state& a, const columns& d) {
    constexpr std::size_t from = keccak::pi_source(X, Y);
    if constexpr (keccak::rotations[from] == 0) {
        return veorq_u64(a.lane[from], d.of[from % 5]);
    } else {
        return vxarq_u64(a.lane[from], d.of[from % 5], 64 - keccak::rotations[from]);
    }
}

// Row Y after chi (§3.2.4): vbcaxq_u64(a, b, c) is a ^ (b & ~c).
template <std::size_t Y>
KECCAK_PART void row(const state& a, const columns& d, state& out) {
    const word b0 = moved_lane<0, Y>(a, d);
    const word b1 = moved_lane<1, Y>(a, d);
    const word b2 = moved_lane<2, Y>(a, d);
    const word b3 = moved_lane<3, Y>(a, d);
    const word b4 = moved_lane<4, Y>(a, d);
    word* to = out.lane + 5 * Y;
    to[0] = vbcaxq_u64(b0, b2, b1);
    to[1] = vbcaxq_u64(b1, b3, b2);
    to[2] = vbcaxq_u64(b2, b4, b3);
    to[3] = vbcaxq_u64(b3, b0, b4);
    to[4] = vbcaxq_u64(b4, b1, b0);
}

KECCAK_PART void rounds(state& a) {
    for (const std::uint64_t constant : keccak::round_constants) {
        const columns d = theta(a);
        state next;
        row<0>(a, d, next);
        next.lane[0] = veorq_u64(next.lane[0], vdupq_n_u64(constant));
        row<1>(a, d, next);
        row<2>(a, d, next);
        row<3>(a, d, next);
        row<4>(a, d, next);
        a = next;
    }
}

using all_lanes = std::make_index_sequence<25>;

// One column of a matrix of `stride` columns.
template <std::size_t... I>
CULVERT_TARGET_SHA3 void permute_one(std::uint64_t* lanes, std::size_t stride,
                                     std::index_sequence<I...>) noexcept {
    state a{{vcombine_u64(vld1_u64(lanes + I * stride), vdup_n_u64(0))...}};
    rounds(a);
    (vst1_u64(lanes + I * stride, vget_low_u64(a.lane[I])), ...);
}

// Two columns.
template <std::size_t... I>
CULVERT_TARGET_SHA3 void permute_two(std::uint64_t* lanes, std::size_t stride,
                                     std::index_sequence<I...>) noexcept {
    state a{{vld1q_u64(lanes + I * stride)...}};
    rounds(a);
    (vst1q_u64(lanes + I * stride, a.lane[I]), ...);
}

void permute(keccak_lanes& lanes) noexcept {
    permute_one(lanes.data(), 1, all_lanes());
}

void permute_n(std::uint64_t* lanes, std::size_t states) noexcept {
    for (std::size_t done = 0; done + 2 <= states; done += 2)
        permute_two(lanes + done, states, all_lanes());
    if (states % 2 != 0) permute_one(lanes + states - 1, states, all_lanes());
}

}  // namespace

constinit const keccak_kernel keccak_sha3{"sha3", []() noexcept { return cpu().sha3; }, permute,
                                          keccak::absorb_blocks<permute>, permute_n};

}  // namespace culvert::crypto
