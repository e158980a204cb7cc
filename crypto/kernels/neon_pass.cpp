// ChaCha20 and Poly1305 in one pass over a run, for NEON.
//
// A set of four blocks: vector i holds word i of all four, so that the state fills 16 of the 32
// registers; two sets would not fit. The four quarter rounds go step by step side by side. Rotation
// by 16 swaps halfwords (REV32), by 8 looks bytes up (TBL), by 12 and 7 shifts and inserts (SHL,
// SRI): 14 vector instructions a quarter round.
//
// Poly1305 runs in the scalar units, a block after each round: by turns one of the first and one of
// the second half of the run, in two chains that are joined at the end of the run:
//     h ← h_first · r^64 + h_second
// So the sets also alternate between the halves. Two of them are put down together, when both their
// pieces of the text have been authenticated, because the output may be the text.
//
// The block counter is added up mod 2^32 in 32-bit lanes; no carry reaches word 13.

#include "crypto/kernels/intrinsics.hpp"
#include "crypto/kernels/neon.hpp"
#include "crypto/kernels/poly1305_chains.hpp"
#include "crypto/secret.hpp"

#if CULVERT_AARCH64

namespace culvert::crypto::neon {
namespace {

using lanes = uint32x4_t;

constexpr std::size_t half_run = aead_run / 2;
constexpr int half_run_doublings = 6;
static_assert(half_run == 16 << half_run_doublings);

template <int Bits>
CULVERT_PART lanes rotate(lanes v) noexcept {
    if constexpr (Bits == 16) {
        return vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(v)));
    } else if constexpr (Bits == 8) {
        constexpr uint8x16_t from{3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};
        return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(v), from));
    } else {
        return vsriq_n_u32(vshlq_n_u32(v, Bits), v, 32 - Bits);
    }
}

// a += b; d = (d ^ a) <<< Bits.
template <int Bits>
CULVERT_PART void step(lanes& a, lanes b, lanes& d) noexcept {
    a = vaddq_u32(a, b);
    d = rotate<Bits>(veorq_u32(d, a));
}

// One word of four blocks a vector.
struct set {
    lanes x[16];
};

// The same half step of four quarter rounds: columns with Turn = 0, diagonals with Turn = 1.
template <int Bits, std::size_t Turn>
CULVERT_PART void steps_ad(set& s) noexcept {
    for (std::size_t i = 0; i < 4; ++i) {
        step<Bits>(s.x[i], s.x[4 + (i + Turn) % 4], s.x[12 + (i + 3 * Turn) % 4]);
    }
}
template <int Bits, std::size_t Turn>
CULVERT_PART void steps_cb(set& s) noexcept {
    for (std::size_t i = 0; i < 4; ++i) {
        step<Bits>(s.x[8 + (i + 2 * Turn) % 4], s.x[12 + (i + 3 * Turn) % 4],
                   s.x[4 + (i + Turn) % 4]);
    }
}

template <std::size_t Turn>
CULVERT_PART void round(set& s) noexcept {
    steps_ad<16, Turn>(s);
    steps_cb<12, Turn>(s);
    steps_ad<8, Turn>(s);
    steps_cb<7, Turn>(s);
}

CULVERT_PART set begin(const chacha20_words& cipher, std::uint32_t ahead) noexcept {
    constexpr lanes steps{0, 1, 2, 3};
    set s;
    for (std::size_t i = 0; i < 16; ++i) s.x[i] = vdupq_n_u32(cipher[i]);
    s.x[12] = vaddq_u32(vdupq_n_u32(cipher[12] + ahead), steps);
    return s;
}

// Words i … i + 3: from a word of four blocks a vector to a block a vector.
CULVERT_PART void transpose(lanes& v0, lanes& v1, lanes& v2, lanes& v3) noexcept {
    const auto pairs = [](lanes v) { return vreinterpretq_u64_u32(v); };
    const uint64x2_t low01 = pairs(vzip1q_u32(v0, v1));
    const uint64x2_t high01 = pairs(vzip2q_u32(v0, v1));
    const uint64x2_t low23 = pairs(vzip1q_u32(v2, v3));
    const uint64x2_t high23 = pairs(vzip2q_u32(v2, v3));
    v0 = vreinterpretq_u32_u64(vzip1q_u64(low01, low23));
    v1 = vreinterpretq_u32_u64(vzip2q_u64(low01, low23));
    v2 = vreinterpretq_u32_u64(vzip1q_u64(high01, high23));
    v3 = vreinterpretq_u32_u64(vzip2q_u64(high01, high23));
}

CULVERT_PART lanes get(const std::uint8_t* from) noexcept {
    return vreinterpretq_u32_u8(vld1q_u8(from));
}
CULVERT_PART void put(std::uint8_t* to, lanes v) noexcept {
    vst1q_u8(to, vreinterpretq_u8_u32(v));
}

// Where a set puts its key stream.
struct to_stream {
    std::uint8_t* out;
    CULVERT_PART void write(std::size_t at, lanes stream) const noexcept { put(out + at, stream); }
};
struct to_text {
    const std::uint8_t* in;
    std::uint8_t* out;
    CULVERT_PART void write(std::size_t at, lanes stream) const noexcept {
        put(out + at, veorq_u32(get(in + at), stream));
    }
};

// After the rounds: adds what the set began with, and puts four blocks at `at`.
template <class Sink>
CULVERT_PART void finish(set& s, const chacha20_words& cipher, std::uint32_t ahead, std::size_t at,
                         const Sink& sink) noexcept {
    const set before = begin(cipher, ahead);
    for (std::size_t i = 0; i < 16; ++i) s.x[i] = vaddq_u32(s.x[i], before.x[i]);
    for (std::size_t i = 0; i < 16; i += 4) {
        transpose(s.x[i], s.x[i + 1], s.x[i + 2], s.x[i + 3]);
    }
    for (std::size_t block = 0; block < 4; ++block) {
        for (std::size_t row = 0; row < 4; ++row) {
            sink.write(at + 64 * block + 16 * row, s.x[4 * row + block]);
        }
    }
}

struct no_mac {
    CULVERT_PART void next_of_first() noexcept {}
    CULVERT_PART void next_of_second() noexcept {}
};

// Two chains over a run.
class run_mac {
  public:
    CULVERT_PART run_mac(const poly1305_state& mac, const std::uint8_t* text) noexcept
        : first_(mac), second_{mac.r, {}}, text_(text) {}

    CULVERT_PART void next_of_first() noexcept { authenticate(first_, text_); }
    CULVERT_PART void next_of_second() noexcept {
        authenticate(second_, text_ + half_run);
        text_ += 16;
    }
    CULVERT_PART void finish(aead_state& state) const noexcept {
        join_chains<half_run_doublings>(state, first_.h, second_.h);
    }

  private:
    CULVERT_PART static void authenticate(poly1305_state& chain,
                                          const std::uint8_t* block) noexcept {
        detail::add_block(chain, load64_le(block), load64_le(block + 8), 1);
        detail::multiply(chain);
    }

    poly1305_state first_;
    poly1305_state second_;
    const std::uint8_t* text_;
};

// The rounds of a set; with them 8 blocks of each chain, half of what two sets cover.
template <class Mac>
CULVERT_PART set rounds(const chacha20_words& cipher, std::uint32_t ahead, Mac& mac) noexcept {
    set s = begin(cipher, ahead);
    for (int pair = 0; pair < 8; ++pair) {
        round<0>(s);
        mac.next_of_first();
        round<1>(s);
        mac.next_of_second();
    }
    for (int pair = 8; pair < 10; ++pair) {
        round<0>(s);
        round<1>(s);
    }
    return s;
}

template <class Sink>
CULVERT_PART void lone_set(chacha20_words& cipher, const Sink& sink) noexcept {
    no_mac none;
    set s = rounds(cipher, 0, none);
    finish(s, cipher, 0, 0, sink);
    cipher[12] += set_blocks;
}

template <class Sink>
CULVERT_PART void mac_run(aead_state& state, const std::uint8_t* text, const Sink& sink) noexcept {
    wiped<std::array<std::uint8_t, set_size>> waiting;
    run_mac mac(state.mac, text);
    for (std::uint32_t block = 0; block < aead_run_blocks / 2; block += set_blocks) {
        const std::size_t at = 64 * std::size_t{block};
        set s = rounds(state.cipher, block, mac);
        finish(s, state.cipher, block, 0, to_stream{waiting->data()});
        const std::uint32_t other = block + aead_run_blocks / 2;
        s = rounds(state.cipher, other, mac);
        for (std::size_t i = 0; i < set_size; i += 16) sink.write(at + i, get(waiting->data() + i));
        finish(s, state.cipher, other, at + half_run, sink);
    }
    mac.finish(state);
    state.cipher[12] += aead_run_blocks;
}

// As a round of a set, but a row of one block a vector.
CULVERT_PART void row_round(lanes& a, lanes& b, lanes& c, lanes& d) noexcept {
    step<16>(a, b, d);
    step<12>(c, d, b);
    step<8>(a, b, d);
    step<7>(c, d, b);
}

}  // namespace

[[gnu::noinline]] void xor_set(chacha20_words& cipher, const std::uint8_t* in,
                               std::uint8_t* out) noexcept {
    lone_set(cipher, to_text{in, out});
}

[[gnu::noinline]] void stream_set(chacha20_words& cipher, std::uint8_t* out) noexcept {
    lone_set(cipher, to_stream{out});
}

[[gnu::noinline]] void stream_block(chacha20_words& cipher, std::uint8_t* out) noexcept {
    const lanes before[4] = {vld1q_u32(cipher.data()), vld1q_u32(cipher.data() + 4),
                             vld1q_u32(cipher.data() + 8), vld1q_u32(cipher.data() + 12)};
    lanes a = before[0], b = before[1], c = before[2], d = before[3];
    for (int pair = 0; pair < 10; ++pair) {
        row_round(a, b, c, d);
        b = vextq_u32(b, b, 1);
        c = vextq_u32(c, c, 2);
        d = vextq_u32(d, d, 3);
        row_round(a, b, c, d);
        b = vextq_u32(b, b, 3);
        c = vextq_u32(c, c, 2);
        d = vextq_u32(d, d, 1);
    }
    put(out, vaddq_u32(a, before[0]));
    put(out + 16, vaddq_u32(b, before[1]));
    put(out + 32, vaddq_u32(c, before[2]));
    put(out + 48, vaddq_u32(d, before[3]));
    ++cipher[12];
}

[[gnu::noinline]] void xor_mac_run(aead_state& state, const std::uint8_t* text,
                                   const std::uint8_t* in, std::uint8_t* out) noexcept {
    mac_run(state, text, to_text{in, out});
}

[[gnu::noinline]] void stream_mac_run(aead_state& state, const std::uint8_t* text,
                                      std::uint8_t* out) noexcept {
    mac_run(state, text, to_stream{out});
}

[[gnu::noinline]] void authenticate(aead_state& state, const std::uint8_t* in,
                                    std::size_t blocks) noexcept {
    for (; blocks >= aead_run / 16; blocks -= aead_run / 16, in += aead_run) {
        run_mac mac(state.mac, in);
        for (std::size_t i = 0; i < half_run / 16; ++i) {
            mac.next_of_first();
            mac.next_of_second();
        }
        mac.finish(state);
    }
    detail::authenticate_singly(state.mac, in, blocks);
}

}  // namespace culvert::crypto::neon

#endif
