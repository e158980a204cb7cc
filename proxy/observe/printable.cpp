#include "proxy/observe/printable.hpp"

#include <fmt/core.h>

#include <cstdint>

namespace culvert::observe {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) noexcept {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

struct character {
    std::uint32_t code = 0;
    std::size_t size = 0;  // bytes; 0: no UTF-8
};

// The first character of a text that is not empty (RFC 3629: no overlong forms, no surrogates).
character first_of(std::string_view text) noexcept {
    const unsigned lead = byte_at(text, 0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    static constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x1'0000};
    std::uint32_t code = lead & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte_at(text, i) & 0xc0) != 0x80) return {};
        code = code << 6 | (byte_at(text, i) & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (lead < 0xc0 || lead > 0xf4 || code < least[size] || code > 0x10'ffff || surrogate)
        return {};
    return {code, size};
}

bool is_control(std::uint32_t code) noexcept {
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
    return code == 0x061c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x2069) ||
           code == 0xfeff;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const character next = first_of(text.substr(i));
        const std::size_t size = next.size == 0 ? 1 : next.size;
        if (out.size() + 4 * size > longest_line)
            return out + fmt::format(" ... (cut: {} bytes)", text.size());
        if (next.size != 0 && !is_control(next.code)) {
            out += text.substr(i, size);
        } else {
            for (std::size_t j = i; j < i + size; ++j)
                out += fmt::format("\\x{:02x}", byte_at(text, j));
        }
        i += size;
    }
    return out;
}

// No control characters are left, so these two are all that JSON has escapes for.
std::string quoted_json(std::string_view text) {
    std::string out = "\"";
    for (const char c : printable(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}  // namespace culvert::observe
