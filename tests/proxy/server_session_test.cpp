// A server's connection with a client that holds the key: the wait for OPEN, the backend.
#include <doctest/doctest.h>

#include <boost/asio/post.hpp>

#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;

namespace {

void drain_after(one_server& f, culvert::relay::session& session, int turns) {
    boost::asio::post(f.world.executor(), [&f, &session, turns] {
        turns == 0 ? session.drain() : drain_after(f, session, turns - 1);
    });
}

}  // namespace

TEST_SUITE("server session: before OPEN") {
    TEST_CASE("drain: ALERT 6 to a session that waits, which may OPEN elsewhere") {
        one_server f;
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

    TEST_CASE("a drain in the moment of an OPEN: ALERT 6, or the backend, and never both") {
        // After so many records, and so many turns of the loop after the OPEN was sent.
        for (int records = 1; records <= 16; ++records) {
            for (int turns = 0; turns < 3; ++turns) {
                CAPTURE(records);
                CAPTURE(turns);
                one_server f;
                auto& entry = f.connect();
                far_end far = f.waiting(entry);
                for (int sent = 1; sent < records; ++sent) {
                    far.send(record_type::pad);
                    far.pump();
                    f.world.run_for(1ms);
                }
                far.send(record_type::open, octets_of_text("main"));
                far.pump(false);
                drain_after(f, *entry.session, turns);
                int backend = -1;
                REQUIRE(f.until(far, [&] {
                    backend = f.backend->accept();
                    return backend >= 0 || far.wire.over();
                }));
                const peer service = backend >= 0 ? peer(backend) : peer();
                f.until(
                    far, [] { return false; }, 2ms);
                CHECK((far.alert() == 6) == (backend < 0));
            }
        }
    }

    TEST_CASE("no record before the client's first: a drain or a stop then is a reset") {
        for (const bool drain : {true, false}) {
            CAPTURE(drain);
            one_server f;
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
            one_server f;
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
            one_server f;
            auto& entry = f.connect();
            far_end far = pad_first ? f.waiting(entry) : f.shake_hands(entry);
            far.send_raw(octets(300, 0x5a));
            REQUIRE(f.over(far));
            CHECK(far.wire.error == ECONNRESET);
            CHECK(f.until(far, [&] { return entry.end.is(end_reason::bad_record); }));
        }
        for (const bool pad_first : {false, true}) {
            one_server f;
            auto& entry = f.connect();
            far_end far = pad_first ? f.waiting(entry) : f.shake_hands(entry);
            far.wire.end();
            REQUIRE(f.over(far));
            CHECK(far.wire.error == ECONNRESET);
            CHECK(f.until(far, [&] { return entry.end.done; }));
        }
    }

    TEST_CASE("so many sessions of one key may wait; another place comes free with an OPEN") {
        one_server f([](auto& settings) { settings.waiting = 2; });
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

    TEST_CASE("a session that is opened at once does not wait: it needs no place") {
        one_server f([](auto& settings) { settings.waiting = 1; });
        auto& a = f.connect();
        far_end first = f.waiting(a);
        auto& b = f.connect();
        far_end second = f.opened(b, "main");
        const peer service = f.accept_backend(second);
        CHECK(second.alert() == 0);
        CHECK_FALSE(b.end.done);
    }

    TEST_CASE("max-connections: those over it get ALERT 6") {
        one_server f([](auto& settings) { settings.limits.connections = 1; });
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
        one_server f([](auto& settings) {
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

TEST_SUITE("server session: a record that does not become whole") {
    TEST_CASE("is no life for a session that waits, whatever drips in") {
        one_server f([](auto& settings) { settings.limits.dead_peer = 1s; });
        auto& entry = f.connect();
        far_end far = f.waiting(entry);
        const octets open = far.sealed(record_type::open, octets(200, 'x'));
        const auto began = culvert::carrier::clock::now();
        auto next = began;
        std::size_t sent = 0;
        f.until(
            far,
            [&] {
                if (culvert::carrier::clock::now() >= next) {
                    next += 300ms;
                    far.send_raw({open[sent++]});
                }
                return far.wire.over();
            },
            5s);
        REQUIRE(far.wire.over());
        CHECK(seconds_since(began) >= 1.9);
        CHECK(f.until(far, [&] { return entry.end.is(end_reason::dead_peer); }));
    }
}

TEST_SUITE("server session: services") {
    TEST_CASE("the default and the named service; what comes behind OPEN is not lost") {
        for (const std::string service : {"", "main"}) {
            one_server f;
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
            const auto facts = entry.session->facts();
            CHECK(facts.opened);
            CHECK(facts.service == service);
            CHECK(facts.client.empty());
            CHECK(facts.carrier == "tcp");
            CHECK(f.pool.in_use() == 0);
        }
    }

    TEST_CASE("unknown, reserved: ALERT 5. Down: ALERT 1") {
        const auto outcome = [](const std::string& service, end_reason why) {
            one_server f;
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
        one_server f([&](auto& settings) {
            settings.services.push_back(service_at("full", full.port()));
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

    TEST_CASE("while a backend does not answer: a stop, and a client that leaves, end the wait") {
        for (const std::string how : {"stop", "end", "reset"}) {
            CAPTURE(how);
            const listener full(0);
            std::vector<peer> queue;
            for (int i = 0; i < 4; ++i) queue.emplace_back(connect_to(full.port()));
            one_server f(
                [&](auto& settings) { settings.services[0].targets = {local(full.port())}; });
            auto& entry = f.connect();
            far_end far = f.opened(entry, "main");
            far.send(record_type::data, octets_of_text("early"));
            CHECK_FALSE(f.until(
                far, [&] { return entry.end.done; }, 300ms));
            if (how == "stop") entry.session->stop(end_reason::shutdown);
            if (how == "end") far.wire.end();
            if (how == "reset") far.wire.reset();
            CHECK(f.until(
                far, [&] { return how == "stop" ? far.alert() == 4 : entry.end.done; }, 5s));
            if (how != "stop") CHECK(entry.end.is(end_reason::tunnel_lost));
        }
    }

    TEST_CASE("a backend that resets, a stop, and what a drain leaves alone") {
        one_server f;
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
        CHECK(entry.session->facts().client == "laptop");

        auto& stranger = s.connect();
        stranger.wire.send(message1(unix_now(), culvert::protocol::client_keys::with_identity(
                                                    pair_of(7), pair_of(3).shared)));
        s.world.run_for(100ms);
        stranger.wire.pump();
        CHECK(stranger.wire.received.empty());
        CHECK_FALSE(stranger.end.done);
        stranger.session->stop(end_reason::shutdown);
        CHECK(s.world.until([&] { return stranger.end.done; }));
        stranger.session.reset();
        CHECK(s.failed("unknown_client") == 1);
        CHECK(s.context->counters->read().clients.at(0).sessions == 1);
    }
}
