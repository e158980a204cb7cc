// The rounds of ChaCha20, for one block (Word = uint32_t) or for as many as a vector has lanes.
#pragma once

#include <array>
#include <cstdint>

namespace culvert::crypto::detail {

template <int Bits, class Word>
[[gnu::always_inline]] inline Word rotate_left(const Word& word) noexcept {
    return (word << Bits) | (word >> (32 - Bits));
}

// RFC 8439 §2.1.
template <class Word>
[[gnu::always_inline]] inline void quarter_round(Word& a, Word& b, Word& c, Word& d) noexcept {
    a += b;
    d = rotate_left<16>(d ^ a);
    c += d;
    b = rotate_left<12>(b ^ c);
    a += b;
    d = rotate_left<8>(d ^ a);
    c += d;
    b = rotate_left<7>(b ^ c);
}

// RFC 8439 §2.3: ten times a column round and a diagonal round.
template <class Word>
[[gnu::always_inline]] inline void twenty_rounds(std::array<Word, 16>& x) noexcept {
    for (int pair = 0; pair < 10; ++pair) {
        quarter_round(x[0], x[4], x[8], x[12]);
        quarter_round(x[1], x[5], x[9], x[13]);
        quarter_round(x[2], x[6], x[10], x[14]);
        quarter_round(x[3], x[7], x[11], x[15]);
        quarter_round(x[0], x[5], x[10], x[15]);
        quarter_round(x[1], x[6], x[11], x[12]);
        quarter_round(x[2], x[7], x[8], x[13]);
        quarter_round(x[3], x[4], x[9], x[14]);
    }
}

}  // namespace culvert::crypto::detail
