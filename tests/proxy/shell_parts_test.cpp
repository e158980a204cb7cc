// The small parts: deadlines, buffers, the keepalive's draw.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/deadline.hpp"
#include "proxy/relay/keepalive.hpp"
#include "tests/proxy/loop.hpp"
#include "tests/proxy/peer.hpp"

using namespace culvert::tests;

TEST_SUITE("deadline") {
    TEST_CASE("acts at its moment, and again, until it is gone") {
        loop world;
        int calls = 0;
        {
            const culvert::relay::deadline d(world.executor(), culvert::carrier::clock::now() + 1s,
                                             [&] { ++calls; });
            world.run_for(10ms);
            CHECK(calls == 0);
            CHECK_FALSE(d.passed());
            CHECK(world.until([&] { return calls >= 1; }, 30s));
            CHECK(d.passed());
            CHECK(world.until([&] { return calls >= 2; }, 30s));
        }
        const int before = calls;
        world.run_for(150ms);
        CHECK(calls == before);
    }

    TEST_CASE("one that is gone in time does nothing") {
        loop world;
        int calls = 0;
        {
            const culvert::relay::deadline d(world.executor(), culvert::carrier::clock::now() + 5ms,
                                             [&] { ++calls; });
        }
        world.run_for(30ms);
        CHECK(calls == 0);
    }

    TEST_CASE("it may go while its action is due, or runs") {
        loop world;
        std::optional<culvert::relay::deadline> due, running;
        int calls = 0;
        due.emplace(world.executor(), culvert::carrier::clock::now(), [&] { ++calls; });
        std::this_thread::sleep_for(1ms);  // its timer has expired, its handler has not run
        due.reset();
        running.emplace(world.executor(), culvert::carrier::clock::now(), [&] {
            ++calls;
            running.reset();
        });
        world.run_for(150ms);
        CHECK(calls == 1);
    }
}

TEST_SUITE("buffer pool") {
    TEST_CASE("buffers are used again, and not kept without end") {
        culvert::relay::buffer_pool pool;
        auto one = pool.take();
        const auto* place = one.get();
        CHECK(pool.in_use() == 1);
        one.reset();
        CHECK(pool.in_use() == 0);
        auto two = pool.take();
        CHECK(two.get() == place);
        std::vector<culvert::relay::buffer_pool::handle> many;
        for (int i = 0; i < 40; ++i) many.push_back(pool.take());
        CHECK(pool.in_use() == 41);
        many.clear();
        CHECK(pool.in_use() == 1);
    }
}

TEST_SUITE("keepalive") {
    TEST_CASE("80 to 100 % of the setting, and not always the same") {
        std::chrono::steady_clock::duration least = 100s, most = 0s;
        for (int i = 0; i < 2'000; ++i) {
            const auto drawn = culvert::relay::draw_keepalive(25s);
            least = std::min(least, drawn);
            most = std::max(most, drawn);
        }
        CHECK(least >= 20s);
        CHECK(least < 20'100ms);
        CHECK(most <= 25s);
        CHECK(most > 24'900ms);
        CHECK(culvert::relay::draw_up_to(0ms) == 0ms);
    }
}

TEST_SUITE("sockets") {
    TEST_CASE("names and addresses of peers") {
        loop world;
        const auto [ours, theirs] = tcp_pair();
        peer other(ours);
        auto socket = world.adopt(theirs);
        CHECK(culvert::carrier::peer_name(socket).starts_with("127.0.0.1:"));
        const std::array<std::uint8_t, 16> mapped{0, 0, 0,    0,    0,   0, 0, 0,
                                                  0, 0, 0xff, 0xff, 127, 0, 0, 1};
        CHECK(culvert::carrier::peer_address(socket) == mapped);

        const auto [left, right] = unix_pair();
        peer far(left);
        auto local = world.adopt(right);
        CHECK(culvert::carrier::peer_name(local).starts_with("unix (uid "));
        CHECK(culvert::carrier::peer_address(local) == std::array<std::uint8_t, 16>{});
    }

    TEST_CASE("IPv4 peers of an IPv6 socket are shown and counted as IPv4") {
        loop world;
        const int listener = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in6 place{};
        place.sin6_family = AF_INET6;
        socklen_t size = sizeof place;
        if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr*>(&place), size) != 0) {
            MESSAGE("skipped: this machine has no IPv6");
            return;
        }
        REQUIRE(::listen(listener, 2) == 0);
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size);

        const auto accepted_from = [&](const sockaddr* from, socklen_t length) {
            const int fd = ::socket(from->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
            REQUIRE(::connect(fd, from, length) == 0);
            const peer client(fd);
            auto socket = world.adopt(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
            return std::pair(culvert::carrier::peer_name(socket),
                             culvert::carrier::peer_address(socket));
        };
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = place.sin6_port;
        v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto [name, address] = accepted_from(reinterpret_cast<sockaddr*>(&v4), sizeof v4);
        CHECK(name.starts_with("127.0.0.1:"));
        CHECK(address ==
              std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1});
        place.sin6_addr = in6addr_loopback;
        const auto [name6, address6] =
            accepted_from(reinterpret_cast<sockaddr*>(&place), sizeof place);
        CHECK(name6.starts_with("[::1]:"));
        CHECK(address6[15] == 1);
        ::close(listener);
    }

    TEST_CASE("a quiet close with bytes unread is no reset") {
        loop world;
        const auto [ours, theirs] = tcp_pair();
        peer other(ours);
        auto socket = world.adopt(theirs);
        culvert::carrier::arm_reset(socket, true);
        other.send("unread");
        world.run_for(5ms);
        culvert::carrier::close_quietly(socket);
        CHECK(world.until([&] { return other.pump(), other.over(); }, 1s));
        CHECK(other.ended);
        culvert::carrier::close_quietly(socket);  // once more does no harm
        culvert::carrier::reset(socket);
    }
}
