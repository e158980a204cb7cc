// What a server does with connections that show no key.
#include <doctest/doctest.h>

#include "tests/proxy/servers.hpp"

using namespace culvert::tests;

namespace {

struct stranger {
    std::string name;
    one_server::entry* with;
    double after = 0;  // seconds until the end

    bool gone() {
        if (after > 0) return true;
        with->wire.pump();
        if (with->wire.over()) after = seconds_since(with->began);
        return after > 0;
    }
};

}  // namespace

TEST_SUITE("server session: strangers") {
    TEST_CASE("every wrong opening meets silence until the deadline, then FIN") {
        one_server f([](auto& settings) { settings.limits.handshake = 1s; });
        seeded_random random(fresh_seed());
        std::vector<stranger> strangers;
        const auto add = [&](const std::string& name, const octets& data) {
            auto& entry = f.connect();
            entry.wire.send(data);
            strangers.push_back({name, &entry});
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
        one_server::entry& drip = *strangers.back().with;

        auto next = culvert::carrier::clock::now();
        REQUIRE(f.world.until([&] {
            if (culvert::carrier::clock::now() >= next && !drip.wire.over()) {
                next += 50ms;
                drip.wire.send("x");
            }
            bool all = true;
            for (stranger& s : strangers) all &= s.gone();
            first.wire.pump();
            return all && first.wire.over();
        }));
        for (const stranger& s : strangers) {
            CAPTURE(s.name);
            CHECK(s.with->wire.received.empty());
            CHECK(s.with->wire.ended);  // a FIN each, no reset
            CHECK(s.after >= 0.99);
            CHECK(s.after < 11.5);
            CHECK_FALSE(s.with->session->proven());
        }
        CHECK(f.world.until([&] { return strangers.back().with->end.done; }));
        CHECK(f.context->counters->read().strangers == strangers.size() + 1);
        for (const stranger& s : strangers) {
            CHECK(f.world.until([&] { return s.with->end.done; }));
            s.with->session.reset();
        }
        CHECK(f.context->counters->read().strangers == 1);
        CHECK(f.failed("replay") == 1);
        CHECK(f.failed("clock_skew") == 2);
        const auto wrong = f.failed("wrong_key");
        CHECK((wrong == 6 || wrong == 7));  // the drip may have come to 96 bytes
        CHECK(f.failed("incomplete") == strangers.size() - 3 - wrong);
        // Message 2 is out: now the deadline is a reset.
        CHECK(first.wire.error == ECONNRESET);
        CHECK(f.world.until([&] { return first.end.done; }));
        first.session.reset();
        CHECK(f.failed("unproven") == 1);
        CHECK(f.backend->accept() < 0);
    }

    TEST_CASE("a FIN is answered with a FIN at once, whatever came before") {
        one_server f;
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
        CHECK(f.context->here->unproven->size() == 0);
    }

    TEST_CASE("stop() and drain() close strangers quietly") {
        one_server f;
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
        one_server f([](auto& settings) { settings.unproven_per_address = 2; });
        auto& oldest = f.connect();
        auto& second = f.connect();
        auto& third = f.connect();
        f.world.run_for(5ms);
        CHECK(f.context->here->unproven->size() == 3);
        CHECK(f.context->here->unproven->sweep(culvert::carrier::clock::now()) == 0);
        CHECK(f.context->here->unproven->sweep(culvert::carrier::clock::now() + 3s) == 1);
        REQUIRE(f.world.until([&] { return oldest.wire.pump(), oldest.wire.over(); }, 1s));
        CHECK(oldest.wire.ended);
        CHECK(f.world.until([&] { return oldest.end.done; }));
        CHECK(f.context->here->unproven->size() == 2);
        oldest.session.reset();
        CHECK(f.failed("evicted") == 1);
        CHECK_FALSE(second.end.done);
        CHECK_FALSE(third.end.done);
    }

    TEST_CASE("a WebSocket listener: 404 to others, nothing to what is not HTTP") {
        one_server f([](auto& settings) {
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
        http.session.reset();
        CHECK(f.failed("no_upgrade") == 1);

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
