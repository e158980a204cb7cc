// RFC 6455 section 5, rule by rule, without I/O.
#include "proxy/carrier/websocket_frames.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/protocol/random.hpp"
#include "tests/proxy/frames.hpp"
#include "tests/proxy/websocket_reference.hpp"
#include "tests/support/hex.hpp"

namespace ws = culvert::carrier::websocket;
using culvert::tests::bytes_of;
using culvert::tests::decoded;
using culvert::tests::frame;
using culvert::tests::octets;
using culvert::tests::octets_of;
using culvert::tests::reference_decode;
using culvert::tests::seeded_random;
using culvert::tests::operator+;
using ws::fault;
using namespace culvert::tests::opcodes;

namespace {

constexpr ws::mask_key some_mask{0x37, 0xfa, 0x21, 0x3d};  // the RFC's

// The bytes of a heap block of exactly this size: a sanitizer sees every step outside.
void decode_piece(ws::frame_reader& reader, const octets& piece, decoded& into) {
    const auto block = std::make_unique<std::uint8_t[]>(piece.size());
    std::copy(piece.begin(), piece.end(), block.get());
    const std::size_t size = reader.decode({block.get(), piece.size()});
    if (size > piece.size()) FAIL("more came out than went in");
    into.stream.insert(into.stream.end(), block.get(), block.get() + size);
    if (const auto payload = reader.take_ping()) {
        into.pinged = true;
        into.last_ping.assign(payload->view().begin(), payload->view().end());
    }
}

template <class NextSize>
decoded decode(ws::role reader_role, const octets& wire, NextSize next_size) {
    ws::frame_reader reader(reader_role);
    decoded out;
    for (std::size_t at = 0; at < wire.size();) {
        const std::size_t size = std::min<std::size_t>(next_size(), wire.size() - at);
        const auto from = wire.begin() + static_cast<std::ptrdiff_t>(at);
        decode_piece(reader, octets(from, from + static_cast<std::ptrdiff_t>(size)), out);
        at += size;
    }
    out.failure = reader.failure();
    out.closed = reader.closed();
    return out;
}

decoded decode(ws::role reader_role, const octets& wire) {
    return decode(reader_role, wire, [&] { return wire.size(); });
}

// At a server every frame is masked, at a client none.
octets to_server(frame f) {
    if (!f.mask) f.mask = some_mask;
    return bytes_of(f);
}

octets filled(std::size_t size) {
    octets out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
    return out;
}

// ---- random streams ----

frame random_frame(seeded_random& random, ws::role reader_role, bool& in_message) {
    frame f;
    if (reader_role == ws::role::server) {
        ws::mask_key mask;
        random.fill(mask);
        f.mask = mask;
    }
    const std::size_t kind = random.up_to(9);
    if (kind < 3) {
        f.opcode = kind == 0 ? pong : ping;
        f.payload = random.bytes(random.up_to(125));
        return f;
    }
    f.opcode = in_message ? continuation : binary;
    f.final = random.up_to(1) == 0;
    in_message = !f.final;
    const std::size_t sizes[] = {0,
                                 random.up_to(8),
                                 random.up_to(200),
                                 125,
                                 126,
                                 127,
                                 random.up_to(1'000),
                                 kind == 9 ? std::size_t{66'000} : 3};
    f.payload = random.bytes(sizes[random.up_to(7)]);
    return f;
}

// One thing that must not be, or a Close.
void spoil(frame& f, seeded_random& random) {
    switch (random.up_to(7)) {
        case 0:
            f.reserved = 1 + static_cast<unsigned>(random.up_to(6));
            break;
        case 1:
            f.opcode = static_cast<unsigned>(random.up_to(15));
            break;
        case 2:
            f.mask = f.mask ? std::optional<ws::mask_key>() : some_mask;
            break;
        case 3:
            f.length_form = random.up_to(1) == 0 ? 16 : 64;
            break;
        case 4:
            f.declared = (std::uint64_t{1} << 63) + random.up_to(5);
            break;
        case 5:
            f.final = !f.final;
            break;
        default:
            f.opcode = close_op;
            f.payload = random.bytes(random.up_to(4));
            if (f.payload.size() > 1) f.payload[0] = 3;
    }
}

octets random_stream(seeded_random& random, ws::role reader_role) {
    octets wire;
    bool in_message = false;
    const std::size_t frames = 1 + random.up_to(12);
    for (std::size_t i = 0; i < frames; ++i) {
        frame f = random_frame(random, reader_role, in_message);
        if (random.up_to(15) == 0) spoil(f, random);
        wire = wire + bytes_of(f);
    }
    if (random.up_to(3) == 0) wire.resize(random.up_to(wire.size()));
    return wire;
}

}  // namespace

TEST_SUITE("websocket frames") {
    TEST_CASE("headers as in RFC 6455 section 5.7") {
        const auto header = [](ws::opcode op, std::uint64_t size, const ws::mask_key* mask) {
            auto made = ws::make_header(op, size, mask);
            return octets(made.view().begin(), made.view().end());
        };
        CHECK(header(ws::opcode::text, 5, nullptr) == octets{0x81, 0x05});
        CHECK(header(ws::opcode::text, 5, &some_mask) ==
              octets{0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d});
        CHECK(header(ws::opcode::ping, 5, nullptr) == octets{0x89, 0x05});
        CHECK(header(ws::opcode::pong, 5, &some_mask) ==
              octets{0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d});
        CHECK(header(ws::opcode::binary, 256, nullptr) == octets{0x82, 0x7e, 0x01, 0x00});
        CHECK(header(ws::opcode::binary, 65'536, nullptr) ==
              octets{0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0});
    }

    TEST_CASE("a length takes the shortest of its three forms") {
        const auto head = [](std::uint64_t size) {
            auto made = ws::make_header(ws::opcode::binary, size, nullptr);
            return octets(made.view().begin(), made.view().end());
        };
        CHECK(head(0) == octets{0x82, 0});
        CHECK(head(125) == octets{0x82, 125});
        CHECK(head(126) == octets{0x82, 126, 0, 126});
        CHECK(head(65'535) == octets{0x82, 126, 0xff, 0xff});
        CHECK(head((std::uint64_t{1} << 63) - 1) ==
              octets{0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
    }

    TEST_CASE("the mask of RFC 6455 section 5.7") {
        octets hello = octets_of("Hello");
        ws::apply_mask(hello, some_mask);
        CHECK(hello == octets{0x7f, 0x9f, 0x4d, 0x51, 0x58});
    }

    TEST_CASE("masking is an exclusive or, at every length, place and offset") {
        for (std::size_t size = 0; size <= 35; ++size)
            for (std::size_t offset = 0; offset < 9; ++offset)
                for (std::size_t place = 0; place < 8; ++place) {
                    octets memory = filled(place + size + 8);
                    octets expected = memory;
                    for (std::size_t i = 0; i < size; ++i)
                        expected[place + i] ^= some_mask[(i + offset) % 4];
                    ws::apply_mask(culvert::crypto::bytes(memory).subspan(place, size), some_mask,
                                   offset);
                    if (memory != expected)
                        FAIL("size ", size, ", offset ", offset, ", place ", place);
                }
    }

    TEST_CASE("all three length forms are read, by both roles") {
        for (const std::size_t size : {0UL, 1UL, 125UL, 126UL, 127UL, 255UL, 65'535UL, 65'536UL}) {
            CAPTURE(size);
            const octets payload = filled(size);
            const decoded expected{payload, fault::none, false, {}, false};
            CHECK(decode(ws::role::server, to_server({binary, payload})) == expected);
            CHECK(decode(ws::role::client, bytes_of({binary, payload})) == expected);
        }
    }

    TEST_CASE("a length in a longer form than it needs is a fault") {
        const auto failure = [](std::size_t size, unsigned form) {
            frame f{binary, filled(size)};
            f.length_form = form;
            return decode(ws::role::client, bytes_of(f)).failure;
        };
        CHECK(failure(0, 16) == fault::length);
        CHECK(failure(125, 16) == fault::length);
        CHECK(failure(126, 16) == fault::none);
        CHECK(failure(0, 64) == fault::length);
        CHECK(failure(65'535, 64) == fault::length);
        CHECK(failure(65'536, 64) == fault::none);
    }

    TEST_CASE("a length of 2^63 is a fault, one less is only long") {
        frame f{binary, filled(3)};
        for (const std::uint64_t length : {std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
            f.declared = length;
            const decoded got = decode(ws::role::client, bytes_of(f));
            CHECK(got.failure == fault::length);
            CHECK(got.stream.empty());
        }
        f.declared = (std::uint64_t{1} << 63) - 1;
        ws::frame_reader reader(ws::role::client);
        decoded got;
        decode_piece(reader, bytes_of(f), got);
        CHECK(reader.failure() == fault::none);
        CHECK(got.stream == filled(3));
        CHECK(reader.remaining() == (std::uint64_t{1} << 63) - 4);
    }

    TEST_CASE("a client's frame must be masked, a server's must not") {
        CHECK(decode(ws::role::server, bytes_of({binary, filled(4)})).failure == fault::masking);
        CHECK(decode(ws::role::client, to_server({binary, filled(4)})).failure == fault::masking);
        CHECK(decode(ws::role::server, bytes_of({ping, {}})).failure == fault::masking);
        CHECK(decode(ws::role::client, to_server({close_op, {}})).failure == fault::masking);
    }

    TEST_CASE("each reserved bit is a fault, in every kind of frame") {
        for (const unsigned op : {continuation, binary, close_op, ping, pong})
            for (unsigned bits = 1; bits < 8; ++bits) {
                frame f{op, {}};
                f.reserved = bits;
                CHECK(decode(ws::role::client, bytes_of(f)).failure == fault::reserved_bit);
            }
    }

    TEST_CASE("unknown opcodes and text are faults, judged at the second byte") {
        for (const unsigned op : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U})
            CHECK(decode(ws::role::client, bytes_of({op, {}})).failure == fault::unknown_opcode);
        CHECK(decode(ws::role::client, bytes_of({text, {}})).failure == fault::text_message);
        // More of the frame is not waited for.
        CHECK(decode(ws::role::server, {0x82, 0x7f}).failure == fault::masking);
        CHECK(decode(ws::role::server, {0x82}).failure == fault::none);
    }

    TEST_CASE("control frames: at most 125 bytes and in one piece") {
        for (const unsigned op : {close_op, ping, pong}) {
            CHECK(decode(ws::role::client, bytes_of({op, filled(126)})).failure ==
                  fault::control_frame);
            CHECK(decode(ws::role::client, bytes_of({op, filled(70'000)})).failure ==
                  fault::control_frame);
            CHECK(decode(ws::role::client, bytes_of({op, {}, false})).failure ==
                  fault::control_frame);
        }
        const decoded got = decode(ws::role::server, to_server({ping, filled(125)}));
        CHECK(got.failure == fault::none);
        CHECK(got.last_ping == filled(125));
    }

    TEST_CASE("fragments with a ping between them, and an empty continuation") {
        const octets wire =
            to_server({binary, octets_of("Hel"), false}) +
            to_server({ping, octets_of("are you there?")}) + to_server({continuation, {}, false}) +
            to_server({continuation, octets_of("lo")}) + to_server({binary, octets_of("!")});
        const decoded expected{octets_of("Hello!"), fault::none, false, octets_of("are you there?"),
                               true};
        CHECK(decode(ws::role::server, wire) == expected);
        CHECK(decode(ws::role::server, wire, [] { return 1; }) == expected);
    }

    TEST_CASE("a continuation of nothing, and a message inside a message, are faults") {
        const octets first = bytes_of({binary, octets_of("a"), false});
        const octets last = bytes_of({continuation, octets_of("b")});
        CHECK(decode(ws::role::client, last).failure == fault::fragmentation);
        CHECK(decode(ws::role::client, first + first).failure == fault::fragmentation);
        CHECK(decode(ws::role::client, first + last + last).failure == fault::fragmentation);
        const decoded text_inside = decode(ws::role::client, first + bytes_of({text, {}}));
        CHECK(text_inside.failure == fault::text_message);
        CHECK(text_inside.stream == octets_of("a"));
    }

    TEST_CASE("of several pings the newest is kept, and handed out once") {
        ws::frame_reader reader(ws::role::client);
        octets wire = bytes_of({ping, octets_of("1")}) + bytes_of({ping, octets_of("2")}) +
                      bytes_of({pong, octets_of("3")});
        CHECK(reader.decode(wire) == 0);
        const auto newest = reader.take_ping();
        REQUIRE(newest.has_value());
        CHECK(octets(newest->view().begin(), newest->view().end()) == octets_of("2"));
        CHECK_FALSE(reader.take_ping().has_value());
    }

    TEST_CASE("a Close holds nothing, or a code that may be sent and any reason") {
        const auto with = [](unsigned code, const std::string& reason = {}) {
            return octets{static_cast<std::uint8_t>(code >> 8), static_cast<std::uint8_t>(code)} +
                   octets_of(reason);
        };
        const auto outcome = [](const octets& payload) {
            return decode(ws::role::client, bytes_of({close_op, payload}));
        };
        CHECK(outcome({}).closed);
        CHECK(outcome(with(1000)).closed);
        CHECK(outcome(with(1001, "going away")).closed);
        for (const unsigned good : {1002U, 1003U, 1007U, 1014U, 3000U, 4999U})
            CHECK_MESSAGE(outcome(with(good)).closed, good);
        for (const unsigned bad : {0U, 999U, 1004U, 1005U, 1006U, 1015U, 2999U, 5000U, 65'535U}) {
            CAPTURE(bad);
            CHECK_FALSE(outcome(with(bad)).closed);
            CHECK(outcome(with(bad)).failure == fault::close_payload);
        }
        CHECK(outcome({3}).failure == fault::close_payload);
    }

    TEST_CASE("nothing is taken after a Close or a fault") {
        const octets data = bytes_of({binary, octets_of("late")});
        for (const frame& end : {frame{close_op, {}}, frame{text, {}}}) {
            ws::frame_reader reader(ws::role::client);
            octets wire = data + bytes_of(end) + data;
            CHECK(reader.decode(wire) == 4);
            octets more = data;
            CHECK(reader.decode(more) == 0);
            CHECK((reader.closed() || reader.failure() == fault::text_message));
        }
    }

    TEST_CASE("every way to cut a stream in two gives the same") {
        const octets wire =
            to_server({binary, filled(130), false}) + to_server({ping, octets_of("p")}) +
            to_server({continuation, filled(7)}) + to_server({close_op, {0x03, 0xe8, 'x'}});
        const decoded whole = decode(ws::role::server, wire);
        CHECK(whole == reference_decode(ws::role::server, wire));
        REQUIRE(whole.closed);
        for (std::size_t cut = 1; cut < wire.size(); ++cut) {
            bool first = true;
            const decoded got = decode(ws::role::server, wire, [&] {
                return std::exchange(first, false) ? cut : wire.size() - cut;
            });
            REQUIRE(got == whole);
        }
        CHECK(decode(ws::role::server, wire, [] { return 1; }) == whole);
    }

    TEST_CASE("random streams in random pieces, against a simple decoder") {
        const auto seed = culvert::tests::fresh_seed();
        CAPTURE(seed);
        seeded_random random(seed);
        for (int round = 0; round < 1'000; ++round) {
            CAPTURE(round);
            const auto role = random.up_to(1) == 0 ? ws::role::client : ws::role::server;
            const octets wire = random_stream(random, role);
            const decoded expected = reference_decode(role, wire);
            const std::size_t most = 1 + random.up_to(random.up_to(3) == 0 ? 10'000 : 20);
            const decoded got = decode(role, wire, [&] { return 1 + random.up_to(most); });
            REQUIRE(got == expected);
        }
    }

    TEST_CASE("random bytes end in some fault, the same as the simple decoder's") {
        const auto seed = culvert::tests::fresh_seed();
        CAPTURE(seed);
        seeded_random random(seed);
        for (int round = 0; round < 1'000; ++round) {
            const auto role = random.up_to(1) == 0 ? ws::role::client : ws::role::server;
            const octets wire = random.bytes(random.up_to(64));
            REQUIRE(decode(role, wire, [&] { return 1 + random.up_to(9); }) ==
                    reference_decode(role, wire));
        }
    }

    TEST_CASE("faults have words") {
        for (int i = 0; i <= static_cast<int>(fault::close_payload); ++i)
            CHECK(make_error_code(static_cast<fault>(i)).message() != "unknown fault");
        CHECK(make_error_code(fault::masking).category().name() == std::string("websocket"));
    }
}
