// A client's session: dialling, and both ends together.
#include "proxy/relay/client_session.hpp"

#include <doctest/doctest.h>

#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using culvert::relay::end_reason;

namespace {

culvert::config::client_settings psk_settings(std::uint16_t server) {
    culvert::config::client_settings settings;
    settings.name = "test";
    settings.connect = {{local(server), culvert::config::carrier::tcp, "/t"}};
    settings.keys.psk = secret_of(1);
    settings.limits.connect = 1s;
    settings.limits.handshake = 1s;
    return settings;
}

// A client session with its application in the test's hands.
struct client {
    explicit client(culvert::config::client_settings settings)
        : client(own_world, own_pool, std::move(settings)) {}
    client(loop& in, culvert::relay::buffer_pool& pool, culvert::config::client_settings settings)
        : world(in),
          context(std::make_shared<const culvert::relay::client_context>(std::move(settings))) {
        const auto [ours, theirs] = tcp_pair();
        application = peer(ours);
        auto socket = world.adopt(theirs);
        culvert::carrier::arm_reset(socket, true);
        session = culvert::relay::make_client_session(context, std::move(socket),
                                                      {world.executor(), pool});
        world.spawn(session->run(), session, end);
    }
    bool over() {
        return world.until([&] { return application.pump(), application.over() && end.done; });
    }

    ending end;
    culvert::relay::buffer_pool own_pool;
    loop own_world;
    loop& world;
    std::shared_ptr<const culvert::relay::client_context> context;
    peer application;
    std::shared_ptr<culvert::relay::session> session;
};

// The client's connection to the server that the test plays.
peer accept_at(client& c, const listener& at) {
    int fd = -1;
    c.world.until([&] { return (fd = at.accept()) >= 0; });
    return peer(fd);
}

void check_refused(client& c, end_reason why, const std::string& detail) {
    c.session.reset();  // as in the daemon: the session ends with its coroutine
    REQUIRE(c.over());
    CHECK(c.application.error == ECONNRESET);
    CHECK(c.end.is(why));
    CHECK_MESSAGE(c.end.detail.find(detail) != std::string::npos, c.end.detail);
}

struct setup {
    culvert::config::carrier carrier;
    bool with_identity;
};

// A client and a server session in one loop.
struct both_ends {
    explicit both_ends(const setup& how)
        : server(server_settings(how, backend.port())), end(server.world, server.pool, [&] {
              auto settings = psk_settings(door.port());
              settings.connect.front().carrier = how.carrier;
              settings.service = "main";
              if (how.with_identity) {
                  settings.keys.identity = secret_of(2);
                  settings.server_key = pair_of(3).shared;
              }
              return settings;
          }()) {
        int fd = -1;
        server.world.until([&] { return (fd = door.accept()) >= 0; });
        accepted = &server.adopt(fd);
    }
    static culvert::config::server_settings server_settings(const setup& how, std::uint16_t port) {
        auto settings = how.with_identity ? static_server(port) : psk_server(port);
        settings.keys.psk = secret_of(1);
        settings.carrier = how.carrier;
        settings.path = "/t";
        return settings;
    }

    listener backend;
    listener door;
    servers server;
    client end;
    servers::entry* accepted = nullptr;
};

}  // namespace

TEST_SUITE("client session") {
    TEST_CASE("both ends: question, half-close, late answer, in each mode over each carrier") {
        for (const auto carrier :
             {culvert::config::carrier::tcp, culvert::config::carrier::websocket})
            for (const bool with_identity : {false, true}) {
                CAPTURE(static_cast<int>(carrier));
                CAPTURE(with_identity);
                both_ends b({carrier, with_identity});
                const octets question = seeded_random(1).bytes(20'000);
                const octets answer = seeded_random(2).bytes(30'000);
                REQUIRE(b.end.application.send(question) == question.size());
                b.end.application.end();
                int fd = -1;
                REQUIRE(b.server.world.until([&] { return (fd = b.backend.accept()) >= 0; }));
                peer service(fd);
                REQUIRE(b.server.world.until([&] { return service.pump(), service.ended; }));
                CHECK(service.received == question);
                b.server.world.run_for(20ms);
                REQUIRE(service.send(answer) == answer.size());
                service.end();
                REQUIRE(b.end.over());
                CHECK(b.end.application.received == answer);
                CHECK(b.end.application.ended);
                CHECK(b.end.end.clean());
                CHECK(b.server.world.until([&] { return b.accepted->end.done; }));
                CHECK(b.accepted->end.clean());
                CHECK(b.server.pool.in_use() == 0);
            }
    }

    TEST_CASE("an unreachable server is a reset") {
        client refused(psk_settings(free_port()));
        check_refused(refused, end_reason::connect_failed, "127.0.0.1:");

        const listener full(0);
        std::vector<peer> queue;
        for (int i = 0; i < 4; ++i) queue.emplace_back(connect_to(full.port()));
        client hangs(psk_settings(full.port()));
        check_refused(hangs, end_reason::connect_failed, "127.0.0.1:");

        auto settings = psk_settings(1'000);
        settings.connect.front().place.host = "no-such-host.invalid";
        client unknown(std::move(settings));
        check_refused(unknown, end_reason::connect_failed, "name lookup");
    }

    TEST_CASE("garbage, an end or a reset instead of message 2: the one text") {
        for (const int kind : {0, 1, 2}) {
            CAPTURE(kind);
            const listener door;
            client c(psk_settings(door.port()));
            peer server = accept_at(c, door);
            REQUIRE(c.world.until([&] { return server.pump(), !server.received.empty(); }));
            if (kind == 0) server.send(octets(2'000, 0x41));
            if (kind == 1) server.close();
            if (kind == 2) server.reset();
            check_refused(c, end_reason::handshake_failed, culvert::relay::no_valid_answer());
        }
    }

    TEST_CASE("the first flight is fresh each time, and of no fixed length on TCP") {
        const listener door;
        std::vector<octets> flights;
        std::size_t sizes = 0;
        for (int i = 0; i < 6; ++i) {
            client c(psk_settings(door.port()));
            peer server = accept_at(c, door);
            REQUIRE(c.world.until([&] { return server.pump(), !server.received.empty(); }));
            CHECK(server.received.size() >= 96);
            CHECK(server.received.size() <= 96 + 1'023);
            for (const octets& earlier : flights) {
                CHECK_FALSE(
                    std::equal(earlier.begin(), earlier.begin() + 32, server.received.begin()));
                sizes += earlier.size() != server.received.size() ? 1 : 0;
            }
            flights.push_back(server.received);
        }
        CHECK(sizes > 0);
    }

    TEST_CASE("no WebSocket at the path: the status is told; silence ends at the limit") {
        auto settings = psk_settings(1);
        const listener door;
        auto& to = settings.connect.front();
        to.carrier = culvert::config::carrier::websocket;
        to.place = local(door.port());
        auto again = psk_settings(door.port());
        again.connect.front().carrier = to.carrier;

        client c(std::move(settings));
        peer server = accept_at(c, door);
        server.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        check_refused(c, end_reason::connect_failed, "HTTP 404");

        client silent(std::move(again));
        peer nobody = accept_at(silent, door);
        check_refused(silent, end_reason::connect_failed, "no answer in time");
    }

    TEST_CASE("stop() while dialling resets the application at once") {
        const listener door;
        client c(psk_settings(door.port()));
        peer server = accept_at(c, door);
        c.session->drain();  // that one lets it go on
        c.world.run_for(5ms);
        c.application.pump();
        CHECK_FALSE(c.application.over());
        c.session->stop(end_reason::shutdown);
        CHECK(c.world.until([&] { return c.application.pump(), c.application.over(); }, 1s));
        CHECK(c.application.error == ECONNRESET);
        CHECK(c.world.until([&] { return c.end.done; }, 5s));
        CHECK(c.end.is(end_reason::shutdown));
        CHECK(c.world.until([&] { return server.pump(), server.over(); }));
    }

    TEST_CASE("an application that leaves while dialling ends that; one that has said all waits") {
        for (const bool leaves : {true, false}) {
            CAPTURE(leaves);
            const listener door;
            client c(psk_settings(door.port()));
            peer server = accept_at(c, door);
            if (leaves)
                c.application.reset();
            else
                c.application.end();
            CHECK(c.world.until([&] { return c.end.done; }, leaves ? 5s : 1s) == leaves);
            if (leaves) CHECK(c.end.is(end_reason::application_reset));
            server.close();
            CHECK(c.world.until([&] { return c.end.done; }));
        }
    }

    TEST_CASE("a refusal of the server resets the application, with its reason") {
        both_ends b({culvert::config::carrier::tcp, false});
        REQUIRE(b.server.world.until([&] { return b.accepted->session->proven(); }));
        b.accepted->session->stop(end_reason::shutdown);
        REQUIRE(b.end.over());
        CHECK(b.end.application.error == ECONNRESET);
        CHECK(b.end.end.is(end_reason::alerted));
    }
}
