// Key texts by the plainest means: a table of digits, a number for each group of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {

// The bytes that digits of `bits` bits each stand for; what is left of the bits must be zero.
inline std::optional<buffer> decode_digits(std::string_view text, std::string_view digits,
                                           unsigned bits) {
    buffer out;
    unsigned held = 0, value = 0;
    for (const char c : text) {
        const std::size_t digit = digits.find(c);
        if (digit == digits.npos) return std::nullopt;
        value = (value << bits | static_cast<unsigned>(digit)) & 0xffff;
        held += bits;
        if (held < 8) continue;
        held -= 8;
        out.push_back(static_cast<std::uint8_t>(value >> held));
    }
    if ((value & ((1U << held) - 1)) != 0) return std::nullopt;
    return out;
}

// nullopt: no key.
inline std::optional<buffer> reference_key(std::string_view text) {
    std::optional<buffer> key;
    if (text.size() == 64) {
        std::string lower(text);
        for (char& c : lower)
            if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
        key = decode_digits(lower, "0123456789abcdef", 4);
    } else if (text.size() == 44 && text.ends_with('=')) {
        key = decode_digits(text.substr(0, 43),
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6);
    }
    if (key && *key == buffer(32)) return std::nullopt;
    return key;
}

}  // namespace culvert::fuzz
