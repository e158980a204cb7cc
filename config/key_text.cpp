#include "config/key_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace culvert::config {
namespace {

constexpr std::size_t hex_length = 64;
constexpr std::size_t base64_length = 44;
constexpr unsigned foreign = 0x100;  // set in a digit's value when it is none

// All ones if low ≤ c ≤ high, else 0. No branch and no table: the text is a key, and what depends
// on it must not show in time or cache.
constexpr unsigned between(unsigned c, unsigned low, unsigned high) noexcept {
    return 0U - (((low - 1 - c) & (c - high - 1)) >> 31);
}

constexpr unsigned hex_digit(unsigned c) noexcept {
    const unsigned digit = between(c, '0', '9');
    const unsigned lower = between(c, 'a', 'f');
    const unsigned upper = between(c, 'A', 'F');
    return (digit & (c - '0')) | (lower & (c - 'a' + 10)) | (upper & (c - 'A' + 10)) |
           (~(digit | lower | upper) & foreign);
}

constexpr unsigned base64_digit(unsigned c) noexcept {
    const unsigned upper = between(c, 'A', 'Z');
    const unsigned lower = between(c, 'a', 'z');
    const unsigned digit = between(c, '0', '9');
    const unsigned plus = between(c, '+', '+');
    const unsigned slash = between(c, '/', '/');
    return (upper & (c - 'A')) | (lower & (c - 'a' + 26)) | (digit & (c - '0' + 52)) | (plus & 62) |
           (slash & 63) | (~(upper | lower | digit | plus | slash) & foreign);
}

unsigned code(char c) noexcept {
    return static_cast<unsigned char>(c);
}

// The result of both decoders: 0 if the text is good.
unsigned decode_hex(std::string_view text, crypto::block<32> out) noexcept {
    unsigned seen = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const unsigned high = hex_digit(code(text[2 * i]));
        const unsigned low = hex_digit(code(text[2 * i + 1]));
        seen |= high | low;
        out[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return seen & foreign;
}

// 43 digits carry 258 bits: the last two must be zero, else one key would have four texts.
unsigned decode_base64(std::string_view text, crypto::block<32> out) noexcept {
    unsigned seen = 0;
    unsigned bits = 0;
    unsigned held = 0;  // bits read and not yet written, at most 12
    std::size_t written = 0;
    for (const char c : text.substr(0, base64_length - 1)) {
        const unsigned digit = base64_digit(code(c));
        seen |= digit;
        bits = (bits << 6 | (digit & 63)) & 0xfff;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out[written++] = static_cast<std::uint8_t>(bits >> held);
    }
    const unsigned padding = between(code(text.back()), '=', '=');
    return (seen & foreign) | (~padding & foreign) | (bits & 3);
}

// Whether a text is a key's is the one thing about it that may show.
bool is_free(unsigned faults) noexcept {
    std::array<std::uint8_t, 4> seen;
    crypto::store32_le(seen.data(), faults);
    static constexpr std::array<std::uint8_t, 4> none{};
    return crypto::equal_constant_time(seen, none);
}

reason wrong_length(std::size_t length) {
    if (length == 0) return reason{"is empty: a key is 64 hex digits or 44 characters of base64"};
    return reason{"holds " + std::to_string(length) +
                  " characters: a key is 64 hex digits or 44 characters of base64"};
}

result<void> decode(std::string_view text, crypto::block<32> out) {
    unsigned faults = 0;
    if (text.size() == hex_length) {
        faults = decode_hex(text, out);
    } else if (text.size() == base64_length) {
        faults = decode_base64(text, out);
    } else {
        return wrong_length(text.size());
    }
    if (!is_free(faults)) {
        return reason{text.size() == hex_length ? "holds a character that is no hex digit"
                                                : "is not the base64 form of 32 bytes"};
    }
    return {};
}

constexpr const char* all_zero = "is all zero: no key";

}  // namespace

result<key> parse_secret_key(std::string_view text) {
    key decoded;
    const result<void> done = decode(text, decoded.writable());
    if (!done) return done.error();
    if (decoded.is_zero()) return reason{all_zero};
    return decoded;
}

result<public_key> parse_public_key(std::string_view text) {
    public_key decoded{};
    const result<void> done = decode(text, decoded);
    if (!done) return done.error();
    if (decoded == public_key{}) return reason{all_zero};
    return decoded;
}

crypto::secret<64> to_hex(const key& from) {
    crypto::secret<64> text;
    const auto digit = [](unsigned value) {  // 39 more from '9' + 1 to 'a'
        return static_cast<std::uint8_t>('0' + value + (between(value, 10, 15) & 39));
    };
    for (std::size_t i = 0; i < from.view().size(); ++i) {
        text.writable()[2 * i] = digit(from.view()[i] >> 4);
        text.writable()[2 * i + 1] = digit(from.view()[i] & 15U);
    }
    return text;
}

}  // namespace culvert::config
