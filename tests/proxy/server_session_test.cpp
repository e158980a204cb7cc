// A server's connection from its accept on: strangers, key holders, backends.
#include "proxy/relay/server_session.hpp"

#include <doctest/doctest.h>

#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;

namespace {

double seconds_since(culvert::carrier::time_point when) {
    return std::chrono::duration<double>(culvert::carrier::clock::now() - when).count();
}

octets message1(culvert::protocol::unix_seconds time, const culvert::protocol::client_keys& keys) {
    culvert::protocol::client_handshake handshake(keys, time, 0);
    return {handshake.message1().begin(), handshake.message1().end()};
}

struct fixture : servers {
    fixture() : fixture([](auto&) {}) {}
    template <class Change>
    explicit fixture(Change change) : fixture(std::make_unique<listener>(), change) {}

    // A client whose record 0 was a PAD, or an OPEN.
    far_end waiting(entry& with) {
        far_end far = shake_hands(with);
        far.send(record_type::pad);
        far.pump();
        world.until([&] { return with.session->proven() || with.end.done; });
        return far;
    }
    far_end opened(entry& with, const std::string& service) {
        far_end far = shake_hands(with);
        far.send(record_type::open, octets_of_text(service));
        return far;
    }
    template <class Done>
    bool until(far_end& far, Done done, std::chrono::milliseconds limit = 20s) {
        const auto pumped = [&] {
            far.pump();
            return done();
        };
        return world.until(pumped, limit);
    }
    bool over(far_end& far) {
        return until(far, [&] { return far.wire.over(); });
    }
    peer accept_backend(far_end& far) {
        int fd = -1;
        until(far, [&] { return (fd = backend->accept()) >= 0; });
        return peer(fd);
    }

    std::unique_ptr<listener> backend;

  private:
    template <class Change>
    fixture(std::unique_ptr<listener> at, Change change)
        : servers(changed(psk_server(at->port()), change)), backend(std::move(at)) {}
    template <class Change>
    static culvert::config::server_settings changed(culvert::config::server_settings settings,
                                                    Change change) {
        change(settings);
        return settings;
    }
};

}  // namespace

TEST_SUITE("server session: strangers") {
    TEST_CASE("every wrong opening meets silence until the deadline, then FIN") {
        fixture f([](auto& settings) { settings.limits.handshake = 1s; });
        seeded_random random(fresh_seed());
        std::vector<std::pair<std::string, fixture::entry*>> strangers;
        const auto add = [&](const std::string& name, const octets& data) {
            auto& entry = f.connect();
            entry.wire.send(data);
            strangers.emplace_back(name, &entry);
        };
        const octets replayed = message1(unix_now(), f.psk_client);
        auto& first = f.connect();
        first.wire.send(replayed);
        REQUIRE(f.world.until([&] { return first.wire.pump(), !first.wire.received.empty(); }));

        for (const std::size_t size : {0UL, 1UL, 95UL, 96UL, 97UL, 160UL, 4'096UL})
            add(std::to_string(size) + " random bytes", random.bytes(size));
        add("http", octets_of_text("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        add("replay", replayed);
        add("wrong psk",
            message1(unix_now(), culvert::protocol::client_keys::with_psk(secret_of(9), {})));
        add("wrong realm", message1(unix_now(), culvert::protocol::client_keys::with_psk(
                                                    secret_of(1), octets_of_text("other"))));
        add("clock behind", message1(unix_now() - 130, f.psk_client));
        add("clock ahead", message1(unix_now() + 130, f.psk_client));
        add("drip", {});
        fixture::entry& drip = *strangers.back().second;

        auto next = culvert::carrier::clock::now();
        REQUIRE(f.world.until([&] {
            if (culvert::carrier::clock::now() >= next && !drip.wire.over()) {
                next += 50ms;
                drip.wire.send("x");
            }
            bool all = true;
            for (auto& [name, stranger] : strangers) {
                stranger->wire.pump();
                if (!stranger->wire.over()) {
                    CHECK_MESSAGE(!stranger->end.done, name);
                    all = false;
                } else if (stranger->wire.ended) {
                    stranger->wire.ended = false;
                    stranger->wire.error = -1;  // seen
                    CHECK_MESSAGE(seconds_since(stranger->began) >= 0.99, name);
                    CHECK_MESSAGE(seconds_since(stranger->began) < 11.5, name);
                }
            }
            first.wire.pump();
            return all && first.wire.over();
        }));
        for (const auto& [name, stranger] : strangers) {
            CHECK_MESSAGE(stranger->wire.received.empty(), name);
            CHECK_MESSAGE(stranger->wire.error == -1, name);  // a FIN each, no reset
            CHECK_FALSE(stranger->session->proven());
        }
        CHECK(f.world.until([&] { return strangers.back().second->end.done; }));
        // Message 2 is out: now the deadline is a reset.
        CHECK(first.wire.error == ECONNRESET);
        CHECK(f.backend->accept() < 0);
    }

    TEST_CASE("a FIN is answered with a FIN at once, whatever came before") {
        fixture f;
        seeded_random random(fresh_seed());
        for (const std::size_t size : {0UL, 1UL, 50UL, 96UL, 500UL}) {
            CAPTURE(size);
            auto& entry = f.connect();
            entry.wire.send(random.bytes(size));
            entry.wire.end();
            REQUIRE(f.world.until([&] { return entry.wire.pump(), entry.wire.over(); }, 1s));
            CHECK(entry.wire.ended);
            CHECK(entry.wire.received.empty());
            CHECK(f.world.until([&] { return entry.end.is(end_reason::handshake_failed); }));
        }
        CHECK(f.context->unproven->size() == 0);
    }

    TEST_CASE("stop() and drain() close strangers quietly") {
        fixture f;
        auto& stopped = f.connect();
        auto& drained = f.connect();
        f.world.run_for(5ms);
        stopped.session->stop(end_reason::shutdown);
        drained.session->drain();
        for (auto* entry : {&stopped, &drained}) {
            REQUIRE(f.world.until([&] { return entry->wire.pump(), entry->wire.over(); }, 1s));
            CHECK(entry->wire.ended);
            CHECK(f.world.until([&] { return entry->end.done; }, 1s));
        }
    }

    TEST_CASE("strangers over a cap go, the oldest first, with a FIN") {
        fixture f([](auto& settings) { settings.unproven_per_address = 2; });
        auto& oldest = f.connect();
        auto& second = f.connect();
        auto& third = f.connect();
        f.world.run_for(5ms);
        CHECK(f.context->unproven->size() == 3);
        CHECK(f.context->unproven->sweep(culvert::carrier::clock::now()) == 0);
        CHECK(f.context->unproven->sweep(culvert::carrier::clock::now() + 3s) == 1);
        REQUIRE(f.world.until([&] { return oldest.wire.pump(), oldest.wire.over(); }, 1s));
        CHECK(oldest.wire.ended);
        CHECK(f.world.until([&] { return oldest.end.done; }));
        CHECK(f.context->unproven->size() == 2);
        CHECK_FALSE(second.end.done);
        CHECK_FALSE(third.end.done);
    }

    TEST_CASE("a WebSocket listener: 404 to others, nothing to what is not HTTP") {
        fixture f([](auto& settings) {
            settings.carrier = culvert::config::carrier::websocket;
            settings.path = "/t";
        });
        auto& http = f.connect();
        http.wire.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        REQUIRE(f.world.until([&] { return http.wire.pump(), http.wire.over(); }, 1s));
        CHECK(http.wire.text().starts_with("HTTP/1.1 404 "));
        CHECK(http.wire.ended);
        http.wire.end();
        CHECK(f.world.until([&] { return http.end.is(end_reason::handshake_failed); }));

        auto& other = f.connect();
        other.wire.send("SSH-2.0-x\r\n");
        REQUIRE(f.world.until([&] { return other.wire.pump(), other.wire.over(); }, 1s));
        CHECK(other.wire.received.empty());
        CHECK(f.world.until([&] { return other.end.done; }));

        auto& faulty = f.connect();
        faulty.wire.send(
            "GET /t HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            "not a frame");
        REQUIRE(f.world.until([&] { return faulty.wire.pump(), faulty.wire.over(); }, 1s));
        CHECK(faulty.wire.text().ends_with("\r\n\r\n"));  // the 101, and nothing behind it
        CHECK(f.world.until([&] { return faulty.end.done; }));
    }
}

TEST_SUITE("server session: before OPEN") {
    TEST_CASE("drain: ALERT 6 to a session that waits, which may OPEN elsewhere") {
        fixture f;
        auto& entry = f.connect();
        far_end far = f.waiting(entry);
        REQUIRE(entry.session->proven());
        entry.session->drain();
        REQUIRE(f.over(far));
        CHECK(far.alert() == 6);
        CHECK(far.wire.ended);
        far.wire.end();
        CHECK(f.until(far, [&] { return entry.end.is(end_reason::not_opened); }));
    }

    TEST_CASE("no record before the client's first: a drain or a stop then is a reset") {
        for (const bool drain : {true, false}) {
            CAPTURE(drain);
            fixture f;
            auto& entry = f.connect();
            far_end far = f.shake_hands(entry);
            f.world.run_for(5ms);
            drain ? entry.session->drain() : entry.session->stop(end_reason::shutdown);
            REQUIRE(f.over(far));
            CHECK(far.records.empty());
            CHECK(far.wire.error == ECONNRESET);
            CHECK(f.until(far, [&] { return entry.end.done; }));
        }
    }

    TEST_CASE("what may not be is a reset, with no word to say which") {
        const auto outcome = [](record_type type, const octets& payload, bool pad_first) {
            fixture f;
            auto& entry = f.connect();
            far_end far = pad_first ? f.waiting(entry) : f.shake_hands(entry);
            // A sealer lets nobody send these: an OPEN that is thrown away goes before.
            if (type == record_type::open)
                far.send(record_type::open, payload);
            else
                far.send_raw(far.sealed(type, payload));
            REQUIRE(f.over(far));
            CHECK(far.records.empty());
            CHECK(f.until(far, [&] { return entry.end.done; }));
            return far.wire.error;
        };
        CHECK(outcome(record_type::open, octets_of_text("no such/name"), false) == ECONNRESET);
        CHECK(outcome(record_type::open, octets_of_text("no such/name"), true) == ECONNRESET);
        // An ALERT is an end in good order.
        CHECK(outcome(record_type::alert, {4}, false) == 0);
        CHECK(outcome(record_type::alert, {4}, true) == 0);

        for (const bool pad_first : {false, true}) {
            fixture f;
            auto& entry = f.connect();
            far_end far = pad_first ? f.waiting(entry) : f.shake_hands(entry);
            far.send_raw(octets(300, 0x5a));
            REQUIRE(f.over(far));
            CHECK(far.wire.error == ECONNRESET);
            CHECK(f.until(far, [&] { return entry.end.is(end_reason::bad_record); }));
        }
        for (const bool pad_first : {false, true}) {
            fixture f;
            auto& entry = f.connect();
            far_end far = pad_first ? f.waiting(entry) : f.shake_hands(entry);
            far.wire.end();
            REQUIRE(f.over(far));
            CHECK(far.wire.error == ECONNRESET);
            CHECK(f.until(far, [&] { return entry.end.done; }));
        }
    }

    TEST_CASE("so many sessions of one key may wait; another place comes free with an OPEN") {
        fixture f([](auto& settings) { settings.waiting = 2; });
        auto& a = f.connect();
        far_end first = f.waiting(a);
        auto& b = f.connect();
        far_end second = f.waiting(b);
        auto& c = f.connect();
        far_end third = f.waiting(c);
        REQUIRE(f.over(third));
        CHECK(third.alert() == 6);
        third.wire.end();
        CHECK(f.until(third, [&] { return c.end.is(end_reason::too_many); }));

        first.send(record_type::open);
        peer service = f.accept_backend(first);
        auto& d = f.connect();
        far_end fourth = f.waiting(d);
        f.until(
            fourth, [] { return false; }, 50ms);
        CHECK_FALSE(d.end.done);
        CHECK_FALSE(b.end.done);
    }

    TEST_CASE("max-connections: those over it get ALERT 6") {
        fixture f([](auto& settings) { settings.limits.connections = 1; });
        auto& a = f.connect();
        far_end first = f.waiting(a);
        {
            auto& b = f.connect();
            far_end second = f.opened(b, "main");
            REQUIRE(f.over(second));
            CHECK(second.alert() == 6);
            second.wire.end();
            CHECK(f.until(second, [&] { return b.end.is(end_reason::too_many); }));
            b.session.reset();
        }
        first.wire.reset();
        CHECK(f.world.until([&] { return a.end.done; }));
        a.session.reset();
        auto& c = f.connect();
        far_end third = f.waiting(c);
        f.until(
            third, [] { return false; }, 50ms);
        CHECK_FALSE(c.end.done);
    }

    TEST_CASE("a session that waits is kept alive, and ends when its client is dead") {
        fixture f([](auto& settings) {
            settings.limits.keepalive = 1s;
            settings.limits.dead_peer = 2s;
        });
        auto& entry = f.connect();
        far_end far = f.waiting(entry);
        const auto began = culvert::carrier::clock::now();
        REQUIRE(f.over(far));
        CHECK(seconds_since(began) >= 1.9);
        CHECK(seconds_since(began) < 3);
        CHECK(far.count(record_type::pad) >= 1);
        CHECK(far.wire.error == ECONNRESET);
        CHECK(f.until(far, [&] { return entry.end.is(end_reason::dead_peer); }));
    }
}

TEST_SUITE("server session: services") {
    TEST_CASE("the default and the named service; what comes behind OPEN is not lost") {
        for (const std::string service : {"", "main"}) {
            fixture f;
            auto& entry = f.connect();
            far_end far = f.shake_hands(entry);
            octets flight = far.sealed(record_type::pad);
            for (const auto& piece : {far.sealed(record_type::open, octets_of_text(service)),
                                      far.sealed(record_type::data, octets_of_text("question")),
                                      far.sealed(record_type::end)})
                flight.insert(flight.end(), piece.begin(), piece.end());
            far.send_raw(flight);
            peer backend = f.accept_backend(far);
            REQUIRE(f.until(far, [&] { return backend.pump(), backend.ended; }));
            CHECK(backend.text() == "question");
            backend.send("answer");
            backend.end();
            REQUIRE(f.until(far, [&] { return far.got(record_type::end); }));
            CHECK(far.stream == octets_of_text("answer"));
            far.wire.end();
            REQUIRE(f.until(far, [&] { return entry.end.done; }));
            CHECK(entry.end.clean());
            CHECK(entry.session->describe().find(service.empty() ? "(default)" : "main") !=
                  std::string::npos);
            CHECK(f.pool.in_use() == 0);
        }
    }

    TEST_CASE("unknown, reserved: ALERT 5. Down: ALERT 1") {
        const auto outcome = [](const std::string& service, end_reason why) {
            fixture f;
            auto& entry = f.connect();
            far_end far = f.opened(entry, service);
            CHECK(f.over(far));
            CHECK(far.wire.ended);
            far.wire.end();
            CHECK(f.until(far, [&] { return entry.end.is(why); }));
            CHECK(f.backend->accept() < 0);
            return far.alert();
        };
        CHECK(outcome("other", end_reason::refused) == 5);
        CHECK(outcome("MAIN", end_reason::refused) == 5);
        CHECK(outcome("tcp:127.0.0.1", end_reason::refused) == 5);
        CHECK(outcome("down", end_reason::backend_unreachable) == 1);
    }

    TEST_CASE("a backend that does not answer: ALERT 3 at the connect timeout") {
        const listener full(0);
        std::vector<peer> queue;
        for (int i = 0; i < 4; ++i) queue.emplace_back(connect_to(full.port()));
        fixture f([&](auto& settings) {
            settings.services.push_back({"full", local(full.port())});
            settings.limits.connect = 1s;
        });
        auto& entry = f.connect();
        far_end far = f.opened(entry, "full");
        const auto began = culvert::carrier::clock::now();
        REQUIRE(f.over(far));
        CHECK(seconds_since(began) >= 0.9);
        CHECK(far.alert() == 3);
        far.wire.end();
        CHECK(f.until(far, [&] { return entry.end.is(end_reason::backend_timeout); }));
    }

    TEST_CASE("a backend that resets, a stop, and what a drain leaves alone") {
        fixture f;
        auto& reset = f.connect();
        far_end first = f.opened(reset, "main");
        peer resetting = f.accept_backend(first);
        resetting.send("hello");
        REQUIRE(f.until(first, [&] { return !first.stream.empty(); }));
        resetting.reset();
        REQUIRE(f.over(first));
        CHECK(first.alert() == 2);
        first.wire.end();
        CHECK(f.until(first, [&] { return reset.end.is(end_reason::application_reset); }));

        auto& entry = f.connect();
        far_end far = f.opened(entry, "main");
        peer backend = f.accept_backend(far);
        entry.session->drain();
        f.until(
            far, [] { return false; }, 50ms);
        CHECK_FALSE(entry.end.done);
        entry.session->stop(end_reason::shutdown);
        REQUIRE(f.over(far));
        CHECK(far.alert() == 4);
        far.wire.end();
        CHECK(f.until(far, [&] { return entry.end.is(end_reason::shutdown); }));
        backend.pump();
        CHECK(backend.error == ECONNRESET);
    }

    TEST_CASE("static mode: a client of the list has a name, another meets silence") {
        const listener backend;
        servers s(static_server(backend.port()));
        auto& entry = s.connect();
        const auto keys =
            culvert::protocol::client_keys::with_identity(pair_of(2), pair_of(3).shared);
        far_end far = s.shake_hands(entry, keys);
        far.send(record_type::open);
        CHECK(s.world.until([&] { return far.pump(), backend.accept() >= 0; }));
        CHECK(entry.session->describe().find("client laptop") != std::string::npos);

        auto& stranger = s.connect();
        stranger.wire.send(message1(unix_now(), culvert::protocol::client_keys::with_identity(
                                                    pair_of(7), pair_of(3).shared)));
        s.world.run_for(100ms);
        stranger.wire.pump();
        CHECK(stranger.wire.received.empty());
        CHECK_FALSE(stranger.end.done);
    }
}
