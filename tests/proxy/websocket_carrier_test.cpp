// The stream over WebSocket, with a peer that makes its frames by hand.
#include "proxy/carrier/websocket.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <set>

#include "tests/protocol/random.hpp"
#include "tests/proxy/frames.hpp"
#include "tests/proxy/loop.hpp"
#include "tests/proxy/peer.hpp"

using namespace culvert::tests;
namespace asio = boost::asio;
namespace ws = culvert::carrier::websocket;
using culvert::carrier::awaitable;
using culvert::carrier::error_code;

namespace {

constexpr unsigned binary = 2, close_op = 8, ping = 9, pong = 10;
constexpr ws::mask_key some_mask{0x37, 0xfa, 0x21, 0x3d};

struct received_frame {
    unsigned opcode;
    bool final;
    bool masked;
    octets payload;
};

// All whole frames in `wire`.
std::vector<received_frame> frames_in(const octets& wire) {
    std::vector<received_frame> out;
    for (std::size_t at = 0; wire.size() - at >= 2;) {
        const bool masked = wire[at + 1] >= 0x80;
        const unsigned form = wire[at + 1] % 128;
        const std::size_t extended = form == 126 ? 2 : form == 127 ? 8 : 0;
        const std::size_t head = 2 + extended + (masked ? 4 : 0);
        if (wire.size() - at < head) break;
        std::size_t length = extended > 0 ? 0 : form;
        for (std::size_t i = 0; i < extended; ++i) length = length * 256 + wire[at + 2 + i];
        if (wire.size() - at < head + length) break;
        received_frame f{wire[at] % 16U, wire[at] >= 0x80, masked, {}};
        for (std::size_t i = 0; i < length; ++i) {
            const std::uint8_t key = masked ? wire[at + head - 4 + i % 4] : std::uint8_t{0};
            f.payload.push_back(wire[at + head + i] ^ key);
        }
        out.push_back(std::move(f));
        at += head + length;
    }
    return out;
}

// A carrier of either role and the socket at its other end.
struct wired {
    explicit wired(ws::role role, const octets& leftover = {}) : role_(role) {
        const auto [ours, theirs] = tcp_pair();
        shrink_buffers(ours);
        shrink_buffers(theirs);
        far = peer(theirs);
        carrier = culvert::carrier::over_websocket(world.adopt(ours), role,
                                                   {leftover.begin(), leftover.end()});
    }

    // What this carrier's peer would send.
    [[nodiscard]] octets from_peer(frame f) const {
        if (role_ == ws::role::server) f.mask = some_mask;
        return bytes_of(f);
    }
    void send(const frame& f) { far.send(from_peer(f)); }

    // One read, waiting.
    std::pair<error_code, octets> read() {
        octets memory(100'000);
        auto got = world.get(carrier->read_some(memory));
        memory.resize(got.size);
        return {got.ec, memory};
    }
    std::vector<received_frame> frames() {
        world.run_for(5ms);
        far.pump();
        return frames_in(far.received);
    }

    loop world;
    peer far;
    std::unique_ptr<culvert::carrier::carrier> carrier;

  private:
    ws::role role_;
};

awaitable<void> write_all(culvert::carrier::carrier& to, octets data, error_code& ec) {
    ec = co_await to.write(data);
}

}  // namespace

TEST_SUITE("websocket carrier") {
    TEST_CASE("a stream goes out in final binary messages of at most 64 KiB and some overhead") {
        for (const auto role : {ws::role::client, ws::role::server}) {
            wired w(role);
            const octets data = seeded_random(7).bytes(300'000);
            ending end;
            error_code ec;
            w.world.spawn(write_all(*w.carrier, data, ec), end);
            REQUIRE(w.world.until([&] { return w.far.pump(), end.done; }));
            CHECK_FALSE(ec);
            octets stream;
            for (const auto& f : w.frames()) {
                CHECK(f.opcode == binary);
                CHECK(f.final);
                CHECK(f.masked == (role == ws::role::client));
                CHECK(f.payload.size() <= 65'536 + 1'024);
                stream = stream + f.payload;
            }
            CHECK(stream == data);
        }
    }

    TEST_CASE("each message of a client has a mask of its own") {
        wired w(ws::role::client);
        std::set<ws::mask_key> masks;
        for (int i = 0; i < 40; ++i) {
            octets data(1);
            CHECK_FALSE(w.world.get(w.carrier->write(data)));
        }
        w.far.pump();
        REQUIRE(w.far.received.size() == 40 * 7);
        for (std::size_t i = 0; i < 40; ++i) {
            ws::mask_key mask;
            std::copy_n(w.far.received.begin() + static_cast<std::ptrdiff_t>(7 * i) + 2,
                        mask.size(), mask.begin());
            masks.insert(mask);
        }
        CHECK(masks.size() == 40);
    }

    TEST_CASE("bytes that came behind the HTTP header go first") {
        const frame first{binary, octets_of("first")};
        wired w(ws::role::client, bytes_of(first) + octets{0x82});
        w.far.send(octets{6} + octets_of("second"));
        CHECK_FALSE(w.world.get(w.carrier->wait_readable()));
        CHECK(w.read().second == octets_of("first"));
        CHECK(w.read().second == octets_of("second"));
    }

    TEST_CASE("pings are answered with their payload, and count as life") {
        for (const auto role : {ws::role::client, ws::role::server}) {
            wired w(role);
            w.send({ping, octets(125, 0x42)});
            const auto [ec, data] = w.read();
            CHECK_FALSE(ec);
            CHECK(data.empty());
            const auto frames = w.frames();
            REQUIRE(frames.size() == 1);
            CHECK(frames[0].opcode == pong);
            CHECK(frames[0].masked == (role == ws::role::client));
            CHECK(frames[0].payload == octets(125, 0x42));
        }
    }

    TEST_CASE("a ping does not hold up reading while a write waits for the peer") {
        wired w(ws::role::server);
        ending end;
        error_code ec;
        w.world.spawn(write_all(*w.carrier, octets(3'000'000), ec), end);
        w.world.run_for(50ms);
        REQUIRE_FALSE(end.done);
        w.send({ping, octets_of("there?")});
        w.send({binary, octets_of("data")});
        octets got;
        for (int i = 0; i < 2 && got.empty(); ++i) got = w.read().second;
        CHECK(got == octets_of("data"));
        REQUIRE_FALSE(end.done);

        // The answer comes as soon as the write allows it.
        REQUIRE(w.world.until([&] { return w.far.pump(), end.done; }));
        std::size_t pongs = 0;
        for (const auto& f : w.frames()) pongs += f.opcode == pong ? 1 : 0;
        CHECK(pongs == 1);
    }

    TEST_CASE("a peer who never pauses leaves the others on the thread their turns") {
        wired w(ws::role::server);
        ending end;
        const auto read_all = [](culvert::carrier::carrier& from) -> awaitable<void> {
            octets one_frame(6);
            for (;;) {
                const auto got = co_await from.read_some(one_frame);
                if (got.ec) co_return;
            }
        };
        octets burst;
        for (int i = 0; i < 200; ++i) burst = burst + w.from_peer({pong, {}});
        w.far.send(burst);
        w.far.end();
        int turns = 0;
        std::function<void()> other = [&] {
            if (end.done) return;
            ++turns;
            boost::asio::post(w.world.executor(), other);
        };
        w.world.spawn(read_all(*w.carrier), end);
        other();
        REQUIRE(w.world.until([&] { return end.done; }));
        CHECK(turns > 5);
    }

    TEST_CASE("a Close, and an end without one, are the end") {
        wired with(ws::role::server);
        with.far.send(with.from_peer({binary, octets_of("last")}) +
                      with.from_peer({close_op, {0x03, 0xe8}}));
        CHECK(with.read().second == octets_of("last"));
        CHECK(with.carrier->buffered());  // of the Close the socket will not tell any more
        CHECK(with.read().first == asio::error::eof);
        CHECK(with.read().first == asio::error::eof);

        wired without(ws::role::client);
        without.far.end();
        CHECK(without.read().first == asio::error::eof);
    }

    TEST_CASE("a fault is an error, and is not answered") {
        const frame faults[] = {{1, octets_of("text")}, {ping, octets(126)}, {binary, {}, true, 1}};
        for (const frame& f : faults) {
            wired w(ws::role::server);
            w.send(f);
            CHECK(w.read().first.category().name() == std::string("websocket"));
            CHECK(w.frames().empty());
            CHECK_FALSE(w.far.over());
        }
        wired unmasked(ws::role::server);
        unmasked.far.send(bytes_of({binary, octets_of("x")}));
        CHECK(unmasked.read().first == make_error_code(ws::fault::masking));
    }

    TEST_CASE("a good end: Close 1000, then FIN; then the peer is read to its end") {
        wired w(ws::role::server);
        CHECK_FALSE(w.world.get(w.carrier->finish()));
        const auto frames = w.frames();
        REQUIRE(frames.size() == 1);
        CHECK(frames[0].opcode == close_op);
        CHECK(frames[0].payload == octets{0x03, 0xe8});
        CHECK(w.far.ended);

        w.send({ping, octets_of("still here?")});
        const auto [ec, data] = w.read();
        CHECK_FALSE(ec);  // there is nothing left to answer with
        w.send({binary, octets_of("x")});
        CHECK(w.read().second == octets_of("x"));
        w.far.end();
        CHECK(w.read().first == asio::error::eof);
    }

    TEST_CASE("reset() is a reset without a word") {
        wired w(ws::role::server);
        w.carrier->reset();
        w.world.until([&] { return w.far.pump(), w.far.over(); });
        CHECK(w.far.error == ECONNRESET);
        CHECK(w.far.received.empty());
    }
}
