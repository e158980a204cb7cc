// WebSocket frames as a test wants them, legal or not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/carrier/websocket_frames.hpp"

namespace culvert::tests {

using octets = std::vector<std::uint8_t>;

struct frame {
    unsigned opcode = 0x2;
    octets payload;
    bool final = true;
    unsigned reserved = 0;                               // the three bits
    std::optional<carrier::websocket::mask_key> mask{};  // none: not masked
    std::optional<std::uint64_t> declared{};             // a length that is not the payload's
    unsigned length_form = 0;                            // 7, 16 or 64 bits; 0: the shortest
};

inline unsigned form_of(const frame& f, std::uint64_t length) {
    if (f.length_form != 0) return f.length_form;
    return length < 126 ? 7 : length <= 0xffff ? 16 : 64;
}

inline octets bytes_of(const frame& f) {
    const auto byte = [](std::uint64_t value) { return static_cast<std::uint8_t>(value); };
    const std::uint64_t length = f.declared.value_or(f.payload.size());
    const unsigned form = form_of(f, length);
    const unsigned masked = f.mask ? 0x80 : 0;
    octets out{byte((f.final ? 0x80U : 0U) | (f.reserved << 4) | f.opcode),
               byte(masked | (form == 7    ? length
                              : form == 16 ? 126
                                           : 127))};
    for (unsigned bits = form == 7 ? 0 : form; bits > 0; bits -= 8)
        out.push_back(byte(length >> (bits - 8)));
    if (f.mask) out.insert(out.end(), f.mask->begin(), f.mask->end());
    for (std::size_t i = 0; i < f.payload.size(); ++i)
        out.push_back(f.mask ? byte(f.payload[i] ^ (*f.mask)[i % 4]) : f.payload[i]);
    return out;
}

inline octets operator+(octets left, const octets& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

inline octets octets_of(const std::string& text) {
    return {text.begin(), text.end()};
}

}  // namespace culvert::tests
