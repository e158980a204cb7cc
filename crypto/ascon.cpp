#include "crypto/ascon.hpp"

#include <bit>

namespace culvert::crypto {
namespace {

// §3.2, for twelve rounds.
constexpr std::array<std::uint64_t, 12> round_constants{0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5,
                                                        0x96, 0x87, 0x78, 0x69, 0x5a, 0x4b};

// §3.3: the 5-bit substitution on all 64 columns at once.
void substitute(ascon_words& s) noexcept {
    s[0] ^= s[4];
    s[4] ^= s[3];
    s[2] ^= s[1];
    const ascon_words t = s;
    for (std::size_t i = 0; i < 5; ++i) s[i] = t[i] ^ (~t[(i + 1) % 5] & t[(i + 2) % 5]);
    s[1] ^= s[0];
    s[0] ^= s[4];
    s[3] ^= s[2];
    s[2] = ~s[2];
}

constexpr std::uint64_t diffused(std::uint64_t word, int a, int b) noexcept {
    return word ^ std::rotr(word, a) ^ std::rotr(word, b);
}

// §3.4.
void diffuse(ascon_words& s) noexcept {
    s[0] = diffused(s[0], 19, 28);
    s[1] = diffused(s[1], 61, 39);
    s[2] = diffused(s[2], 1, 6);
    s[3] = diffused(s[3], 10, 17);
    s[4] = diffused(s[4], 7, 41);
}

}  // namespace

template <unsigned Rounds>
requires(Rounds == 6 || Rounds == 8 || Rounds == 12) void ascon_p(ascon_words& words) noexcept {
    ascon_words s = words;
    for (std::size_t i = round_constants.size() - Rounds; i < round_constants.size(); ++i) {
        s[2] ^= round_constants[i];
        substitute(s);
        diffuse(s);
    }
    words = s;
}

template void ascon_p<6>(ascon_words& words) noexcept;
template void ascon_p<8>(ascon_words& words) noexcept;
template void ascon_p<12>(ascon_words& words) noexcept;

}  // namespace culvert::crypto
