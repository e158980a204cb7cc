// The stream over WebSocket against Boost.Beast at the other end, in both roles.
#include <doctest/doctest.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include "proxy/carrier/http_upgrade.hpp"
#include "proxy/carrier/websocket.hpp"
#include "tests/protocol/random.hpp"
#include "tests/proxy/loop.hpp"
#include "tests/proxy/peer.hpp"

using namespace culvert::tests;
namespace asio = boost::asio;
namespace beast = boost::beast;
using culvert::carrier::awaitable;
using culvert::carrier::error_code;
using culvert::carrier::stream_socket;
using culvert::carrier::use_awaitable;
using culvert::carrier::websocket::role;
using beast_stream = beast::websocket::stream<stream_socket>;
using carrier_ptr = std::unique_ptr<culvert::carrier::carrier>;

namespace {

constexpr auto no_throw = asio::as_tuple(use_awaitable);
constexpr const char* path = "/tunnel?x=1";

struct plan {
    role ours = role::server;
    bool auto_fragment = false;
    std::size_t fragment = 4'096;  // Beast's write buffer, and so its automatic fragments
};

// Beast at one end, the carrier at the other, both after the upgrade.
struct conversation {
    explicit conversation(const plan& p);

    plan how;
    seeded_random random{fresh_seed()};
    loop world;
    std::optional<beast_stream> beast;
    carrier_ptr ours;
    std::vector<std::string> pongs;
    octets beast_got;
    octets ours_got;
    error_code beast_end;
    error_code ours_end;
};

awaitable<void> begin_ours(stream_socket socket, role ours, carrier_ptr& into) {
    namespace ws = culvert::carrier::websocket;
    ws::upgrade_result result;
    if (ours == role::server)
        result = co_await ws::accept_upgrade(socket, path);
    else
        result = co_await ws::request_upgrade(socket, "localhost:80", path);
    CHECK_MESSAGE(result.ok(), result.ec.message());
    into = culvert::carrier::over_websocket(std::move(socket), ours, std::move(result.leftover));
}

awaitable<void> begin_beast(beast_stream& beast, role ours) {
    if (ours == role::server)
        co_await beast.async_handshake("localhost:80", path, use_awaitable);
    else
        co_await beast.async_accept(use_awaitable);
}

conversation::conversation(const plan& p) : how(p) {
    const auto [left, right] = unix_pair();
    beast.emplace(world.adopt(left));
    ending a, b;
    world.spawn(begin_ours(world.adopt(right), how.ours, ours), a);
    world.spawn(begin_beast(*beast, how.ours), b);
    REQUIRE(world.until([&] { return a.done && b.done; }));
    REQUIRE(a.clean());
    REQUIRE_MESSAGE(b.clean(), b.other);
    beast->binary(true);
    beast->auto_fragment(how.auto_fragment);
    beast->write_buffer_bytes(how.fragment);
    beast->control_callback([this](beast::websocket::frame_type kind, beast::string_view payload) {
        if (kind == beast::websocket::frame_type::pong) pongs.emplace_back(payload);
    });
}

awaitable<void> beast_pings(conversation& c) {
    const beast::websocket::ping_data payload("ping");
    co_await c.beast->async_ping(payload, use_awaitable);
}

// Whole messages, messages in fragments by hand, and pings between the fragments.
awaitable<void> beast_writes(conversation& c, octets data) {
    for (std::size_t at = 0; at < data.size();) {
        const std::size_t size = std::min(1 + c.random.up_to(70'000), data.size() - at);
        const std::size_t cut = c.random.up_to(size);
        const auto first = asio::buffer(data.data() + at, cut);
        const auto second = asio::buffer(data.data() + at + cut, size - cut);
        co_await c.beast->async_write_some(false, first, use_awaitable);
        if (c.random.up_to(1) == 0) {
            co_await beast_pings(c);
        }
        co_await c.beast->async_write_some(true, second, use_awaitable);
        at += size;
    }
}

awaitable<void> beast_reads(conversation& c, std::size_t size) {
    beast::flat_buffer buffer;
    while (c.beast_got.size() < size) {
        co_await c.beast->async_read(buffer, use_awaitable);
        CHECK(c.beast->got_binary());
        const auto* from = static_cast<const std::uint8_t*>(buffer.cdata().data());
        c.beast_got.insert(c.beast_got.end(), from, from + buffer.size());
        buffer.consume(buffer.size());
    }
}

awaitable<void> ours_writes(conversation& c, octets data) {
    for (std::size_t at = 0; at < data.size();) {
        const std::size_t size = std::min(1 + c.random.up_to(150'000), data.size() - at);
        const error_code ec =
            co_await c.ours->write(culvert::crypto::bytes(data).subspan(at, size));
        CHECK_FALSE(ec);
        at += size;
    }
}

awaitable<void> ours_reads(conversation& c, std::size_t size) {
    octets memory(50'000);
    while (c.ours_got.size() < size) {
        const auto got = co_await c.ours->read_some(memory);
        if (got.ec) co_return;
        c.ours_got.insert(c.ours_got.end(), memory.begin(),
                          memory.begin() + static_cast<std::ptrdiff_t>(got.size));
    }
}

awaitable<void> beast_reads_end(conversation& c) {
    beast::flat_buffer buffer;
    auto [ec, size] = co_await c.beast->async_read(buffer, no_throw);
    c.beast_end = ec;
}

awaitable<void> beast_closes(conversation& c) {
    auto [ec] = co_await c.beast->async_close(beast::websocket::close_code::normal, no_throw);
    c.beast_end = ec;
}

awaitable<void> ours_reads_end(conversation& c) {
    octets memory(1'000);
    do {
        const auto got = co_await c.ours->read_some(memory);
        c.ours_end = got.ec;
    } while (!c.ours_end);
}

awaitable<void> ours_finishes(conversation& c) {
    const error_code ec = co_await c.ours->finish();
    CHECK_FALSE(ec);
}

void check_all(const plan& p, std::size_t size) {
    conversation c(p);
    const octets to_ours = c.random.bytes(size);
    const octets to_beast = c.random.bytes(size);
    ending ends[4];
    c.world.spawn(beast_writes(c, to_ours), ends[0]);
    c.world.spawn(beast_reads(c, size), ends[1]);
    c.world.spawn(ours_writes(c, to_beast), ends[2]);
    c.world.spawn(ours_reads(c, size), ends[3]);
    REQUIRE(c.world.until([&] {
        return std::all_of(std::begin(ends), std::end(ends), [](auto& e) { return e.done; });
    }));
    for (const ending& e : ends) CHECK_MESSAGE(e.clean(), e.other);
    CHECK(c.ours_got == to_ours);
    CHECK(c.beast_got == to_beast);
    for (const auto& pong : c.pongs) CHECK(pong == "ping");
}

}  // namespace

TEST_SUITE("websocket carrier against Beast") {
    TEST_CASE("both directions at once, in every way of cutting messages") {
        for (const role ours : {role::server, role::client})
            for (const bool auto_fragment : {false, true})
                for (const std::size_t fragment : {16UL, 125UL, 126UL, 4'096UL, 100'000UL}) {
                    CAPTURE(static_cast<int>(ours));
                    CAPTURE(auto_fragment);
                    CAPTURE(fragment);
                    check_all({ours, auto_fragment, fragment}, fragment < 200 ? 60'000 : 400'000);
                }
    }

    TEST_CASE("a ping is answered") {
        for (const role ours : {role::server, role::client}) {
            conversation c({ours});
            ending reading, pinging, answering;
            c.world.spawn(beast_reads(c, 1), reading);
            c.world.spawn(ours_reads(c, 1), answering);
            c.world.spawn(beast_pings(c), pinging);
            CHECK(c.world.until([&] { return c.pongs == std::vector<std::string>{"ping"}; }));
        }
    }

    TEST_CASE("our end is a Close with code 1000 to Beast") {
        for (const role ours : {role::server, role::client}) {
            conversation c({ours});
            ending a, b, d;
            c.world.spawn(beast_reads_end(c), a);
            c.world.spawn(ours_finishes(c), b);
            c.world.spawn(ours_reads_end(c), d);
            REQUIRE(c.world.until([&] { return a.done && b.done && d.done; }));
            CHECK(c.beast_end == beast::websocket::error::closed);
            CHECK(c.beast->reason().code == beast::websocket::close_code::normal);
            CHECK(c.ours_end == asio::error::eof);
        }
    }

    TEST_CASE("Beast's end is an end to us, and our answer one to Beast") {
        for (const role ours : {role::server, role::client}) {
            conversation c({ours});
            ending a, b, d;
            c.world.spawn(beast_closes(c), a);
            c.world.spawn(ours_reads_end(c), b);
            REQUIRE(c.world.until([&] { return b.done; }));
            CHECK(c.ours_end == asio::error::eof);
            c.world.spawn(ours_finishes(c), d);
            REQUIRE(c.world.until([&] { return d.done; }));
            c.ours->close();
            REQUIRE(c.world.until([&] { return a.done; }));
            CHECK_FALSE(c.beast_end);
        }
    }

    TEST_CASE("Beast offers permessage-deflate, and it is not taken up") {
        const auto [left, right] = unix_pair();
        loop world;
        beast_stream beast(world.adopt(left));
        beast::websocket::permessage_deflate offer;
        offer.client_enable = true;
        beast.set_option(offer);
        carrier_ptr ours;
        ending a, b;
        world.spawn(begin_ours(world.adopt(right), role::server, ours), a);
        world.spawn(begin_beast(beast, role::server), b);
        REQUIRE(world.until([&] { return a.done && b.done; }));
        CHECK(b.clean());
    }
}
