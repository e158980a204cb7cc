#include "crypto/kernels/avx512_poly1305.hpp"

#if CULVERT_X86

#include <algorithm>

#include "crypto/kernels/avx512.hpp"
#include "crypto/kernels/poly1305_limbs.hpp"
#include "crypto/kernels/poly1305_mulx.hpp"
#include "crypto/kernels/x86.hpp"
#include "crypto/secret.hpp"

namespace culvert::crypto {
namespace avx512 {
namespace {

// From here on a run of blocks is worth the powers, when they are not there and when they are.
constexpr std::size_t enough = 12;
constexpr std::size_t enough_with_powers = 4;

CULVERT_TARGET_AVX512 CULVERT_PART __m512i lanes(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                                 std::uint64_t d, std::uint64_t e, std::uint64_t f,
                                                 std::uint64_t g, std::uint64_t h) noexcept {
    const auto word = [](std::uint64_t from) { return static_cast<long long>(from); };
    return _mm512_setr_epi64(word(a), word(b), word(c), word(d), word(e), word(f), word(g),
                             word(h));
}

CULVERT_TARGET_AVX512 CULVERT_PART void store_powers(std::uint64_t* to, const limbs& p) noexcept {
    _mm512_store_si512(to, p.l0);
    _mm512_store_si512(to + row, p.l1);
    _mm512_store_si512(to + 2 * row, p.l2);
    _mm512_store_si512(to + 3 * row, twenty_times(p.l1));
    _mm512_store_si512(to + 4 * row, twenty_times(p.l2));
}

// a b c d a b c d
CULVERT_TARGET_AVX512 CULVERT_PART limbs twice(const scalar_limbs& a, const scalar_limbs& b,
                                               const scalar_limbs& c,
                                               const scalar_limbs& d) noexcept {
    return {lanes(a.l0, b.l0, c.l0, d.l0, a.l0, b.l0, c.l0, d.l0),
            lanes(a.l1, b.l1, c.l1, d.l1, a.l1, b.l1, c.l1, d.l1),
            lanes(a.l2, b.l2, c.l2, d.l2, a.l2, b.l2, c.l2, d.l2)};
}

// The lanes of the mask are x, the others 1.
CULVERT_TARGET_AVX512 CULVERT_PART limbs some(__mmask8 mask, const scalar_limbs& x) noexcept {
    return {_mm512_mask_set1_epi64(words(1), mask, static_cast<long long>(x.l0)),
            _mm512_maskz_set1_epi64(mask, static_cast<long long>(x.l1)),
            _mm512_maskz_set1_epi64(mask, static_cast<long long>(x.l2))};
}

}  // namespace

namespace {

struct scalar_powers {
    CULVERT_PART explicit scalar_powers(const poly1305_state& mac) noexcept
        : r1(limbs_of(mac.r[0], mac.r[1], 0)),
          r2(product(r1, r1)),
          r4(product(r2, r2)),
          r3(product(r2, r1)) {}
    scalar_limbs r1, r2, r4, r3;
};

// Lanes r^8 r^4 r^7 r^3 r^6 r^2 r^5 r^1, from r^4 r^4 r^3 r^3 r^2 r^2 r^1 r^1.
CULVERT_TARGET_AVX512 CULVERT_PART void store_lane_powers(aead_state& state,
                                                          const scalar_powers& p) noexcept {
    const auto& [r1, r2, r4, r3] = p;
    const limbs pairs{lanes(r4.l0, r4.l0, r3.l0, r3.l0, r2.l0, r2.l0, r1.l0, r1.l0),
                      lanes(r4.l1, r4.l1, r3.l1, r3.l1, r2.l1, r2.l1, r1.l1, r1.l1),
                      lanes(r4.l2, r4.l2, r3.l2, r3.l2, r2.l2, r2.l2, r1.l2, r1.l2)};
    store_powers(state.powers.words.data() + lane_rows, product(pairs, some(0x55, r4)));
}

}  // namespace

CULVERT_TARGET_AVX512 void make_lane_powers(aead_state& state) noexcept {
    if (state.powers.made != poly1305_powers::extent::none) return;
    store_lane_powers(state, scalar_powers(state.mac));
    state.powers.made = poly1305_powers::extent::some;
}

CULVERT_TARGET_AVX512 void make_powers(aead_state& state) noexcept {
    if (state.powers.made == poly1305_powers::extent::all) return;
    const scalar_powers p(state.mac);
    const scalar_limbs r8 = product(p.r4, p.r4);
    const scalar_limbs r16 = product(r8, r8);
    const scalar_limbs r32 = product(r16, r16);
    const scalar_limbs r24 = product(r16, r8);
    const limbs fours = twice(r8, r16, r24, r32);
    const limbs eights = product(fours, some(0xf0, r32));
    store_powers(state.powers.words.data(), eights);
    store_lane_powers(state, p);
    state.powers.made = poly1305_powers::extent::all;
}

namespace {

// The first 1 … 8 blocks, in the last lanes, with the accumulator added to the first of them.
CULVERT_TARGET_AVX512 CULVERT_PART limbs load_first(const poly1305_state& mac,
                                                    const std::uint8_t* in,
                                                    std::size_t blocks) noexcept {
    const std::size_t skipped = 8 - blocks;
    const unsigned mask = 0xffffu << (2 * skipped);  // two words a block
    const auto mask_a = static_cast<__mmask8>(mask);
    const auto mask_b = static_cast<__mmask8>(mask >> 8);
    // Masked words are not read, wherever the address points.
    const auto* from =
        reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::uintptr_t>(in) - 16 * skipped);
    const __m512i a = _mm512_maskz_loadu_epi64(mask_a, from);
    const __m512i b = _mm512_maskz_loadu_epi64(mask_b, from + 64);
    const __m512i bit_a = _mm512_maskz_mov_epi64(mask_a, words(block_bit));
    const __m512i bit_b = _mm512_maskz_mov_epi64(mask_b, words(block_bit));
    const std::size_t lane = skipped < 4 ? 2 * skipped : 2 * skipped - 7;
    return sum(split(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b),
                     _mm512_unpackhi_epi64(bit_a, bit_b)),
               load_accumulator(mac, static_cast<__mmask8>(1u << lane)));
}

// x times the power at r.
CULVERT_TARGET_AVX512 CULVERT_PART void multiply_add(sums& to, const limbs& x,
                                                     const std::uint64_t* r) noexcept {
    multiply_add(to, x, words(r[0]), words(r[row]), words(r[2 * row]), words(r[3 * row]),
                 words(r[4 * row]));
}

// lanes · r^8n + …, n groups, 1 … 8 of them. The lanes come last: what is multiplied before them
// needs not wait for the carry that made them.
CULVERT_TARGET_AVX512 CULVERT_PART limbs add_groups(const std::uint64_t* powers, const limbs& lanes,
                                                    const std::uint8_t* in,
                                                    std::size_t groups) noexcept {
    sums s = no_sums();
    const std::uint64_t* r = powers + groups - 1;
    const std::uint64_t* const most = r;
    for (; r != powers; in += 128) multiply_add(s, load_group(in), --r);
    const limbs last = load_group(in);
    s.low0 = _mm512_add_epi64(s.low0, last.l0);
    s.low1 = _mm512_add_epi64(s.low1, last.l1);
    s.low2 = _mm512_add_epi64(s.low2, last.l2);
    multiply_add(s, lanes, most);
    return carry(s);
}

[[gnu::noinline]] CULVERT_TARGET_AVX512 void authenticate_groups(aead_state& state,
                                                                 const std::uint8_t* in,
                                                                 std::size_t blocks) noexcept {
    const std::size_t first = (blocks - 1) % 8 + 1;
    limbs h = load_first(state.mac, in, first);
    in += 16 * first;
    std::size_t groups = (blocks - first) / 8;
    const bool few = groups <= 3 && state.powers.made != poly1305_powers::extent::all;
    if (few) {
        make_lane_powers(state);
        // r^8 is the power of the first lane.
        for (; groups != 0; --groups, in += 128) {
            h = add_groups(state.powers.words.data() + lane_rows, h, in, 1);
        }
    } else {
        make_powers(state);
    }
    while (groups != 0) {
        const std::size_t now = std::min<std::size_t>(groups, 8);
        h = add_groups(state.powers.words.data(), h, in, now);
        in += 128 * now;
        groups -= now;
    }
    store_accumulator(state, h);
}

CULVERT_TARGET_AVX512 void authenticate_few(poly1305_state& mac, const std::uint8_t* in,
                                            std::size_t blocks) noexcept {
    mulx_blocks(mac, in, blocks);
}

void mac_blocks(poly1305_state& state, const std::uint8_t* in, std::size_t blocks) noexcept {
    if (blocks < enough) return authenticate_few(state, in, blocks);
    aead_state working;
    working.mac = state;
    working.powers.made = poly1305_powers::extent::none;
    authenticate_groups(working, in, blocks);
    state.h = working.mac.h;
    wipe({reinterpret_cast<std::uint8_t*>(&working), sizeof working});
}

}  // namespace

void authenticate(aead_state& state, const std::uint8_t* in, std::size_t blocks) noexcept {
    if (blocks >=
        (state.powers.made == poly1305_powers::extent::none ? enough : enough_with_powers)) {
        return authenticate_groups(state, in, blocks);
    }
    authenticate_few(state.mac, in, blocks);
}

}  // namespace avx512

constinit const poly1305_kernel poly1305_avx512{"avx512", []() noexcept { return cpu().avx512; },
                                                avx512::mac_blocks, 64};

}  // namespace culvert::crypto

#endif
