// The small parts: deadlines, buffers, the keepalive's draw.
#include <doctest/doctest.h>

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
            const culvert::relay::deadline d(
                world.executor(), culvert::carrier::clock::now() + 20ms, [&] { ++calls; });
            world.run_for(10ms);
            CHECK(calls == 0);
            CHECK_FALSE(d.passed());
            CHECK(world.until([&] { return calls == 1; }, 1s));
            CHECK(d.passed());
            CHECK(world.until([&] { return calls >= 2; }, 1s));
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
        CHECK(culvert::carrier::peer_name(local) == "unix");
        CHECK(culvert::carrier::peer_address(local) == std::array<std::uint8_t, 16>{});
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
