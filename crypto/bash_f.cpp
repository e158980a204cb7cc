#include "crypto/bash_f.hpp"

#include <bit>
#include <utility>

namespace culvert::crypto {
namespace {

constexpr std::size_t rounds = 24;
constexpr std::size_t columns = 8;

// The rotations of column 0; each next column has them times 7 modulo 64.
constexpr std::array<bash_rotations, columns> make_rotations() {
    std::array<bash_rotations, columns> all{};
    bash_rotations r{8, 53, 14, 1};
    for (bash_rotations& each : all) {
        each = r;
        r = {7 * r.m1 % 64, 7 * r.n1 % 64, 7 * r.m2 % 64, 7 * r.n2 % 64};
    }
    return all;
}
constexpr auto rotations = make_rotations();

// A register shifted to the low bits, with feedback.
constexpr std::array<std::uint64_t, rounds> make_constants() {
    std::array<std::uint64_t, rounds> all{};
    std::uint64_t c = 0x3bf5080ac8ba94b1;
    for (std::uint64_t& each : all) {
        each = c;
        c = (c >> 1) ^ ((c & 1) != 0 ? 0xdc2be1997fe0d8ae : 0);
    }
    return all;
}
constexpr auto round_constants = make_constants();

// Which word comes to each place at the end of a round.
constexpr std::array<std::size_t, 24> sources{
    15, 10, 9, 12, 11, 14, 13, 8, 17, 16, 19, 18, 21, 20, 23, 22, 6, 3, 0, 5, 2, 7, 4, 1,
};

[[gnu::always_inline]] inline void mix_column(std::uint64_t& w0, std::uint64_t& w1,
                                              std::uint64_t& w2,
                                              const bash_rotations& by) noexcept {
    const std::uint64_t rotated = std::rotl(w0, by.m1);
    const std::uint64_t a = w0 ^ w1 ^ w2;
    const std::uint64_t mixed = w1 ^ std::rotl(a, by.n1);
    const std::uint64_t b = rotated ^ mixed;
    const std::uint64_t c = w2 ^ std::rotl(w2, by.m2) ^ std::rotl(mixed, by.n2);
    w0 = a ^ (~c | b);
    w1 = b ^ (a | c);
    w2 = c ^ (a & b);
}

// I: the columns. Unrolled, so that the rotations are constants.
template <std::size_t... I>
[[gnu::always_inline]] inline void mix_columns(bash_words& s, std::index_sequence<I...>) noexcept {
    (mix_column(s[I], s[I + columns], s[I + 2 * columns], rotations[I]), ...);
}

// I: the words.
template <std::size_t... I>
[[gnu::always_inline]] inline bash_words permuted(const bash_words& s,
                                                  std::index_sequence<I...>) noexcept {
    return {s[sources[I]]...};
}

}  // namespace

void bash_s(std::uint64_t& w0, std::uint64_t& w1, std::uint64_t& w2,
            const bash_rotations& by) noexcept {
    mix_column(w0, w1, w2, by);
}

void bash_f(bash_words& words) noexcept {
    bash_words s = words;
    for (const std::uint64_t constant : round_constants) {
        mix_columns(s, std::make_index_sequence<columns>());
        s = permuted(s, std::make_index_sequence<24>());
        s[23] ^= constant;
    }
    words = s;
}

}  // namespace culvert::crypto
