// A second decoder of WebSocket frames: the whole stream at once, nothing clever.
#pragma once

#include "tests/proxy/frames.hpp"

namespace culvert::tests {

namespace ws = carrier::websocket;
using ws::fault;

namespace opcodes {
inline constexpr unsigned continuation = 0, text = 1, binary = 2, close_op = 8, ping = 9, pong = 10;
}
// What came out of a stream of frames.
struct decoded {
    octets stream;
    fault failure = fault::none;
    bool closed = false;
    octets last_ping;
    bool pinged = false;
    friend bool operator==(const decoded&, const decoded&) = default;
};

struct parsed_header {
    std::size_t size = 0;
    std::uint64_t length = 0;
    ws::mask_key mask{};
    bool whole = false;
};

inline parsed_header parse_header(const octets& wire, std::size_t at) {
    parsed_header out;
    const unsigned form = wire[at + 1] & 0x7fU;
    const std::size_t extended = form == 126 ? 2 : form == 127 ? 8 : 0;
    const bool masked = wire[at + 1] >= 0x80;
    out.size = 2 + extended + (masked ? 4 : 0);
    out.whole = wire.size() - at >= out.size;
    if (!out.whole) return out;
    out.length = form;
    if (extended > 0) out.length = 0;
    for (std::size_t i = 0; i < extended; ++i) out.length = out.length * 256 + wire[at + 2 + i];
    for (std::size_t i = 0; masked && i < 4; ++i) out.mask[i] = wire[at + 2 + extended + i];
    return out;
}

inline fault judge_two_bytes(ws::role reader_role, unsigned first, unsigned second,
                             bool in_message) {
    const unsigned op = first % 16;
    const bool final = first >= 0x80;
    if ((first & 0x70) != 0) return fault::reserved_bit;
    if ((op > 2 && op < 8) || op > 10) return fault::unknown_opcode;
    if ((second >= 0x80) != (reader_role == ws::role::server)) return fault::masking;
    if (op >= 8) return final && second % 128 <= 125 ? fault::none : fault::control_frame;
    if (op == opcodes::text) return fault::text_message;
    return (op == opcodes::continuation) == in_message ? fault::none : fault::fragmentation;
}

inline bool may_close_with(const octets& payload) {
    if (payload.empty()) return true;
    if (payload.size() == 1) return false;
    const int code = payload[0] * 256 + payload[1];
    if (code >= 3000 && code <= 4999) return true;
    return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

inline decoded reference_decode(ws::role reader_role, const octets& wire) {
    decoded out;
    bool in_message = false;
    for (std::size_t at = 0; wire.size() - at >= 2;) {
        const unsigned op = wire[at] % 16;
        out.failure = judge_two_bytes(reader_role, wire[at], wire[at + 1], in_message);
        if (out.failure != fault::none) break;
        const parsed_header header = parse_header(wire, at);
        if (!header.whole) break;
        const unsigned form = wire[at + 1] & 0x7fU;
        const std::uint64_t least = form == 126 ? 126 : form == 127 ? 0x10000 : 0;
        out.failure =
            header.length < least || header.length >> 63 != 0 ? fault::length : fault::none;
        if (out.failure != fault::none) break;
        at += header.size;
        octets payload;
        while (payload.size() < header.length && at < wire.size())
            payload.push_back(wire[at++] ^ header.mask[payload.size() % 4]);
        const bool whole = payload.size() == header.length;
        if (op < 8) {
            in_message = wire[at - payload.size() - header.size] < 0x80;
            out.stream = out.stream + payload;
        } else if (whole && op == opcodes::ping) {
            out.pinged = true;
            out.last_ping = payload;
        } else if (whole && op == opcodes::close_op) {
            out.closed = may_close_with(payload);
            out.failure = out.closed ? fault::none : fault::close_payload;
            break;
        }
    }
    return out;
}

}  // namespace culvert::tests
