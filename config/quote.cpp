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

std::string quote(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text.substr(0, longest)) {
        if (c >= ' ' && c <= '~') {
            quoted += c;
        } else {
            append_escaped(quoted, static_cast<unsigned char>(c));
        }
    }
    return quoted + (text.size() > longest ? "...'" : "'");
}

}  // namespace culvert::config
