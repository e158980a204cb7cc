// WebSocket frames: a stream of them in pieces against a second decoder that sees it whole, and
// written frames read back.
#include "tests/fuzz/input.hpp"
#include "tests/proxy/websocket_reference.hpp"

namespace culvert::fuzz {
namespace {

namespace ws = carrier::websocket;
using tests::decoded;

decoded read_in_pieces(input& in, ws::role as, bytes_view wire) {
    ws::frame_reader reader(as);
    decoded got;
    in.in_pieces(wire, [&](buffer piece) {
        const bool over = reader.closed() || reader.failure() != ws::fault::none;
        const std::size_t size = reader.decode(piece);
        require(size <= piece.size() && (!over || size == 0));
        got.stream.insert(got.stream.end(), piece.begin(),
                          piece.begin() + static_cast<std::ptrdiff_t>(size));
        if (const auto ping = reader.take_ping()) {
            got.pinged = true;
            got.last_ping = copy(ping->view());
        }
    });
    got.failure = reader.failure();
    got.closed = reader.closed();
    return got;
}

// A frame with a header that is mostly right.
buffer draw_frame(input& in, ws::role reader) {
    static constexpr std::array<std::uint8_t, 8> first_bytes{0x82, 0x02, 0x00, 0x80,
                                                             0x89, 0x8a, 0x88, 0x81};
    const bool masked = (reader == ws::role::server) != (in.up_to(31) == 1);
    const buffer payload = in.message(in.byte() == 1 ? 70'000 : 200);
    const ws::mask_key mask = in.block<4>();
    auto header = ws::make_header(ws::opcode::binary, payload.size(), masked ? &mask : nullptr);
    header.data[0] = in.up_to(15) == 1 ? in.byte() : first_bytes[in.up_to(7)];
    if (in.up_to(31) == 1) header.data[1 + in.up_to(header.size - 2U)] ^= in.byte();
    buffer frame = copy(header.view());
    frame.insert(frame.end(), payload.begin(), payload.end());
    if (masked) ws::apply_mask(crypto::bytes(frame).subspan(header.size), mask);
    return frame;
}

void check_stream(input& in, ws::role as, const buffer& wire) {
    const decoded expected = tests::reference_decode(as, wire);
    require(read_in_pieces(in, as, wire) == expected);
}

// One message after the other, by the writer, to the reader of the other end.
void check_round_trip(input& in) {
    const ws::role reader = in.flag() ? ws::role::server : ws::role::client;
    buffer wire, sent;
    for (std::size_t left = in.up_to(6); left-- > 0;) {
        buffer payload = in.message(in.byte() == 1 ? 70'000 : 300);
        sent.insert(sent.end(), payload.begin(), payload.end());
        const ws::mask_key mask = in.block<4>();
        const bool masked = reader == ws::role::server;
        auto header = ws::make_header(ws::opcode::binary, payload.size(), masked ? &mask : nullptr);
        if (masked) {  // in two parts, as the relay does where a message lies apart
            const std::size_t cut = in.up_to(payload.size());
            ws::apply_mask(crypto::bytes(payload).first(cut), mask);
            ws::apply_mask(crypto::bytes(payload).subspan(cut), mask, cut);
        }
        const auto head = header.view();
        wire.insert(wire.end(), head.begin(), head.end());
        wire.insert(wire.end(), payload.begin(), payload.end());
    }
    const decoded got = read_in_pieces(in, reader, wire);
    require(got.stream == sent && got.failure == ws::fault::none && !got.closed && !got.pinged);
}

void run(input in) {
    const ws::role as = in.flag() ? ws::role::server : ws::role::client;
    switch (in.up_to(2)) {
        case 0:
            return check_stream(in, as, in.bytes(in.up_to(2'000)));
        case 1: {
            buffer wire;
            for (std::size_t left = in.up_to(12); left-- > 0;) {
                const buffer frame = draw_frame(in, as);
                wire.insert(wire.end(), frame.begin(), frame.end());
            }
            if (in.up_to(7) == 1) wire.resize(in.up_to(wire.size()));
            return check_stream(in, as, wire);
        }
        default:
            return check_round_trip(in);
    }
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
