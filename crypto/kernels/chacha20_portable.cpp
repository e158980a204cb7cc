// Four blocks at once: a vector holds the same word of four blocks, in the plain vector types that
// gcc and clang have for every CPU (SSE2 and NEON where they belong to the base, scalar code
// elsewhere). Shorter runs compute four blocks too and drop what is not asked for.

#include <algorithm>

#include "crypto/kernels/chacha20_round.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/secret.hpp"

namespace culvert::crypto {
namespace {

constexpr std::size_t width = 4;
constexpr std::size_t block_size = 64;

using lanes = std::uint32_t __attribute__((vector_size(4 * width)));
using lane_words = std::array<lanes, 16>;
using key_stream = std::array<std::uint8_t, width * block_size>;

// Word 12 counts up from lane to lane, mod 2^32 and without a carry into word 13.
lane_words spread(const chacha20_words& state) noexcept {
    lane_words words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = lanes{} + state[i];
    words[12] += lanes{0, 1, 2, 3};
    return words;
}

// Words i … i + 3 of the four blocks: from one word a vector to one block a vector.
void transpose(lanes& a, lanes& b, lanes& c, lanes& d) noexcept {
    const lanes ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const lanes ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const lanes cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const lanes cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

void store(lane_words& words, key_stream& to) noexcept {
    static_assert(std::endian::native == std::endian::little, "swap the bytes of each word");
    for (std::size_t i = 0; i < words.size(); i += width) {
        transpose(words[i], words[i + 1], words[i + 2], words[i + 3]);
        for (std::size_t lane = 0; lane < width; ++lane) {
            std::memcpy(to.data() + lane * block_size + 4 * i, &words[i + lane], sizeof(lanes));
        }
    }
}

void next_blocks(const chacha20_words& state, key_stream& stream) noexcept {
    const lane_words before = spread(state);
    lane_words words = before;
    detail::twenty_rounds(words);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] += before[i];
    store(words, stream);
}

void xor_blocks(chacha20_words& state, const std::uint8_t* in, std::uint8_t* out,
                std::size_t blocks) noexcept {
    wiped<key_stream> stream;
    while (blocks != 0) {
        const std::size_t now = std::min(blocks, width);
        next_blocks(state, *stream);
        for (std::size_t i = 0; i < now * block_size; ++i) {
            out[i] = static_cast<std::uint8_t>(in[i] ^ (*stream)[i]);
        }
        state[12] += static_cast<std::uint32_t>(now);
        in += now * block_size;
        out += now * block_size;
        blocks -= now;
    }
}

}  // namespace

constinit const chacha20_kernel chacha20_portable{"portable", []() noexcept { return true; },
                                                  xor_blocks, width};

}  // namespace culvert::crypto
