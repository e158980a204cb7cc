#include "config/quote.hpp"

#include <cstddef>

namespace culvert::config {
namespace {

constexpr std::size_t longest = 80;

void append_escaped(std::string& to, unsigned char byte) {
    static constexpr std::string_view digits = "0123456789abcdef";
    to += "\\x";
    to += digits[byte >> 4];
    to += digits[byte & 15];
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c >= ' ' && c <= '~') {
            out += c;
        } else {
            append_escaped(out, static_cast<unsigned char>(c));
        }
    }
    return out;
}

std::string quote(std::string_view text) {
    return "'" + escaped(text.substr(0, longest)) + (text.size() > longest ? "...'" : "'");
}

}  // namespace culvert::config
