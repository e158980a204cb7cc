// Clients with several servers: who is drawn, and where a session goes on when one fails.
#include "proxy/relay/uplinks.hpp"

#include <doctest/doctest.h>

#include <map>

#include "tests/proxy/pooled.hpp"

using namespace culvert::tests;
using culvert::relay::uplinks;
namespace config = culvert::config;
namespace relay = culvert::relay;

namespace {

config::uplink server_at(std::uint16_t port, unsigned weight = 1, bool backup = false) {
    config::uplink to;
    to.place = local(port);
    to.weight = weight;
    to.backup = backup;
    return to;
}

std::map<int, int> drawn(const uplinks& from, int times) {
    std::map<int, int> counts;
    for (int i = 0; i < times; ++i) {
        auto way = from.search();
        ++counts[from.next(way)->to.place.port];
    }
    return counts;
}

}  // namespace

TEST_SUITE("uplinks: the draw") {
    TEST_CASE("by weight") {
        auto counts = drawn(uplinks("c", {server_at(1, 1), server_at(2, 3), server_at(3)}), 5'000);
        // 1,000 of 5,000, give or take eight times the deviation.
        CHECK(counts[1] > 774);
        CHECK(counts[1] < 1'226);
        CHECK(counts[2] > 2'723);
        CHECK(counts[2] < 3'277);
        CHECK(counts[1] + counts[2] + counts[3] == 5'000);
    }

    TEST_CASE("a backup only when there is no other, and all when all are down") {
        uplinks servers("c", {server_at(1), server_at(2), server_at(3, 256, true)});
        CHECK(drawn(servers, 100).count(3) == 0);
        const auto fail = [&](std::uint16_t port) {
            for (;;) {
                auto way = servers.search();
                auto chosen = servers.next(way);
                while (chosen && chosen->to.place.port != port) {
                    chosen.reset();
                    auto another = servers.next(way);
                    if (another) chosen.emplace(std::move(*another));
                }
                if (chosen) return chosen->visit.failed("refused");
            }
        };
        fail(1);
        CHECK(drawn(servers, 100) == std::map<int, int>{{2, 100}});
        fail(2);
        CHECK(drawn(servers, 100) == std::map<int, int>{{3, 100}});
        fail(3);
        auto counts = drawn(servers, 200);
        CHECK(counts[1] > 0);
        CHECK(counts[2] > 0);
        CHECK(counts[1] + counts[2] == 200);
        // Newer settings: what is known stays.
        const uplinks after("c", {server_at(2), server_at(4)}, &servers);
        CHECK(drawn(after, 100) == std::map<int, int>{{4, 100}});
    }
}

TEST_SUITE("uplinks: sessions") {
    // A client whose other server is the given port, tried before the one that serves.
    const auto with_other = [](std::uint16_t port) {
        return [port](auto& ours, auto&) {
            ours.connect.front().backup = true;
            ours.connect.insert(ours.connect.begin(), server_at(port));
        };
    };

    TEST_CASE("a server that refuses, or ends every connection, costs nobody his own") {
        for (const bool listens : {false, true}) {
            CAPTURE(listens);
            auto bad = std::make_unique<listener>();
            const std::uint16_t port = bad->port();
            if (!listens) bad.reset();
            pooled f(0, with_other(port));
            int attempts = 0;
            for (int i = 0; i < 3; ++i) {
                auto& app = f.connect();
                f.start(app);
                app.socket.send("question");
                peer service;
                REQUIRE(f.until([&] {
                    const int turned_away = bad ? bad->accept() : -1;
                    if (turned_away >= 0) peer(turned_away).reset(), ++attempts;
                    const int fd = f.backend.accept();
                    if (fd >= 0) service = peer(fd);
                    return fd >= 0;
                }));
                CHECK(f.until([&] { return service.pump(), service.text() == "question"; }));
                app.socket.reset();
            }
            if (listens) CHECK(attempts == 1);  // then it was down
            const auto status = f.context->servers.status();
            CHECK_FALSE(status[0].up);
            CHECK(status[1].up);
            CHECK(status[1].connections == 3);
        }
    }

    TEST_CASE("a wrong answer is not taken to another server") {
        listener wrong;
        pooled f(0, with_other(wrong.port()));
        auto& app = f.connect();
        f.start(app);
        peer server;
        REQUIRE(f.until([&] {
            const int fd = wrong.accept();
            if (fd >= 0) server = peer(fd);
            return fd >= 0;
        }));
        server.send(std::string(200, 'x'));
        REQUIRE(f.until([&] { return app.end.done; }));
        CHECK(app.end.is(end_reason::handshake_failed));
        CHECK(f.came == 0);
        CHECK(f.context->servers.status()[0].up);
    }

    TEST_CASE("an application that leaves takes nobody down") {
        const listener full(0);
        std::vector<peer> queue;
        for (int i = 0; i < 4; ++i) queue.emplace_back(connect_to(full.port()));
        pooled f(0, with_other(full.port()));
        auto& app = f.connect();
        f.start(app);
        f.run_for(50ms);
        app.socket.reset();
        REQUIRE(f.until([&] { return app.end.done; }));
        CHECK(app.end.is(end_reason::application_reset));
        CHECK(f.context->servers.status()[0].up);
        CHECK(f.came == 0);
    }

    TEST_CASE("none can be reached: the last one's reason") {
        pooled f(0, [](auto& ours, auto&) {
            ours.connect = {server_at(free_port()), server_at(free_port())};
        });
        auto& app = f.connect();
        f.start(app);
        REQUIRE(f.until([&] { return app.end.done; }));
        CHECK(app.end.is(end_reason::connect_failed));
        const auto status = f.context->servers.status();
        CHECK(status[0].failures == 1);
        CHECK(status[1].failures == 1);
    }

    TEST_CASE("the pool is filled from those that can be reached") {
        pooled f(4, with_other(free_port()));
        CHECK(f.filled(4));
        CHECK_FALSE(f.context->servers.status()[0].up);
        CHECK(f.context->servers.status()[1].connections == 4);
    }
}
