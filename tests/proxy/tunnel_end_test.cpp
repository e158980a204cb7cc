// The ways in which a session ends: what the application sees, what the other end is told.
#include <doctest/doctest.h>

#include <cerrno>

#include "tests/proxy/tunnel_ends.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;

namespace {

octets alert_payload(int code) {
    return {static_cast<std::uint8_t>(code)};
}

}  // namespace

TEST_SUITE("tunnel: ends") {
    TEST_CASE("a cut of the carrier resets the application") {
        for (const bool hard : {false, true}) {
            CAPTURE(hard);
            one_tunnel t;
            t.far->send(record_type::data, octets_of_text("some"));
            REQUIRE(t.until([&] { return t.application.text() == "some"; }));
            hard ? t.far->wire.reset() : t.far->wire.close();
            check_application_reset(t, end_reason::tunnel_lost);
        }
    }

    TEST_CASE("a cut within a record, and one after END, are cuts") {
        one_tunnel within;
        octets half = within.far->sealed(record_type::data, octets(100));
        half.resize(50);
        within.far->send_raw(half);
        within.far->pump();
        within.far->wire.close();
        check_application_reset(within, end_reason::tunnel_lost);
        CHECK(within.application.received.empty());

        one_tunnel after_end;
        after_end.far->send(record_type::end);
        after_end.far->pump();
        after_end.far->wire.end();
        REQUIRE(after_end.until([&] { return after_end.end.done; }));
        CHECK(after_end.end.is(end_reason::tunnel_lost));
        CHECK(after_end.application.ended);  // that was verified
        after_end.application.send("more");
        CHECK(after_end.application.error == EPIPE);  // what a reset after the end leaves
    }

    TEST_CASE("a flipped bit: a reset to both, and nothing of the bad record") {
        const octets good = octets_of_text("good"), bad = octets_of_text("bad record");
        for (const std::size_t at : {0UL, 1UL, 3UL, 4UL, 13UL, 14UL, 29UL}) {
            CAPTURE(at);
            one_tunnel t;
            octets record = t.far->sealed(record_type::data, good);
            REQUIRE(t.far->sent());
            t.far->send_raw(record);
            record = t.far->sealed(record_type::data, bad);
            REQUIRE(record.size() == 30);
            record[at] ^= 1;
            t.far->send_raw(record);
            // A length that has grown waits for its bytes.
            t.far->send_raw(octets(70'000));
            check_application_reset(t, end_reason::bad_record);
            CHECK(t.application.received.size() <= good.size());
            CHECK(t.until([&] { return t.far->wire.over(); }));
            CHECK(t.far->wire.error == ECONNRESET);
            CHECK(t.far->records.empty());
        }
    }

    TEST_CASE("a reset of the application becomes ALERT 2") {
        one_tunnel t;
        t.application.reset();
        REQUIRE(t.until([&] { return t.far->wire.over(); }));
        CHECK(t.far->alert() == 2);
        CHECK(t.far->wire.ended);
        t.far->wire.end();
        CHECK(t.until([&] { return t.end.done; }));
        CHECK(t.end.is(end_reason::application_reset));
    }

    TEST_CASE("also when it had ended its stream before") {
        one_tunnel t;
        t.application.end();
        REQUIRE(t.until([&] { return t.far->got(record_type::end); }));
        t.application.reset();
        REQUIRE(t.until([&] { return t.far->wire.over(); }));
        CHECK(t.far->alert() == 2);
        t.far->wire.end();
        CHECK(t.until([&] { return t.end.is(end_reason::application_reset); }));
    }

    TEST_CASE("also when it does so while bytes for it wait") {
        one_tunnel t(default_limits(), {.small_buffers = true});
        for (int i = 0; i < 20; ++i) t.far->send(record_type::data, octets(50'000));
        t.world.until([&] { return t.far->pump(), false; }, 100ms);
        t.application.reset();
        REQUIRE(t.until([&] { return t.far->alert() != 0 || t.far->wire.over(); }));
        CHECK(t.far->alert() == 2);
    }

    TEST_CASE("also when it does so while its own bytes wait") {
        one_tunnel t(default_limits(), {.small_buffers = true});
        std::size_t taken = 0;
        const octets more(50'000, 0x55);
        // The other end reads nothing, so that all is full in the end.
        t.world.until([&] { return taken += t.application.send(more), false; }, 200ms);
        REQUIRE(taken > 0);
        t.application.reset();
        CHECK(t.world.until([&] { return t.end.is(end_reason::application_reset); }));
    }

    TEST_CASE("a reset reaches the application behind two tunnels") {
        for (const by carrier : {by::tcp, by::websocket}) {
            two_tunnels t({carrier});
            t.service.reset();
            REQUIRE(t.until([&] { return t.application.over() && t.both_done(); }));
            CHECK(t.application.error == ECONNRESET);
            CHECK(t.server_end.is(end_reason::application_reset));
            CHECK(t.client_end.is(end_reason::alerted));
        }
    }

    TEST_CASE("each ALERT resets the application") {
        for (const int code : {1, 2, 3, 4, 5, 6, 77}) {
            one_tunnel t;
            t.far->send(record_type::alert, alert_payload(code));
            check_application_reset(t, end_reason::alerted);
            CHECK_FALSE(t.end.detail.empty());
            CHECK(t.until([&] { return t.far->wire.over(); }));
            CHECK(t.far->wire.ended);  // an ALERT is not answered with a reset
        }
    }

    TEST_CASE("what follows both ENDs changes nothing") {
        SUBCASE("an ALERT") {
            one_tunnel t;
            end_both_ways(t);
            REQUIRE(t.until([&] { return t.application.ended; }));
            t.far->send(record_type::alert, alert_payload(2));
            t.far->pump();
            t.far->wire.end();
            check_clean(t);
        }
        SUBCASE("an ALERT in the same piece as END") {
            one_tunnel t;
            end_both_ways(t);
            t.far->send(record_type::alert, alert_payload(2));
            t.far->pump();
            t.far->wire.end();
            check_clean(t);
        }
        SUBCASE("garbage in the same piece as END") {
            one_tunnel t;
            end_both_ways(t);
            t.far->send_raw(octets(100, 0x55));
            t.far->pump();
            t.far->wire.end();
            check_clean(t);
        }
        SUBCASE("a reset") {
            one_tunnel t;
            end_both_ways(t);
            REQUIRE(t.until([&] { return t.application.ended; }));
            t.far->wire.reset();
            check_clean(t);
        }
        SUBCASE("but an ALERT behind END while our direction runs is one") {
            one_tunnel t;
            t.far->send(record_type::end);
            t.far->send(record_type::alert, alert_payload(2));
            check_application_reset(t, end_reason::alerted);
        }
    }

    TEST_CASE("an end is clean only when our own END got out") {
        gate door;
        one_tunnel t(default_limits(), {.door = &door});
        t.world.run_for(10ms);
        door.shut = true;
        t.application.end();
        t.world.run_for(10ms);
        t.far->send(record_type::end);
        REQUIRE(t.until([&] { return t.application.ended; }));
        t.world.run_for(50ms);
        CHECK_FALSE(t.end.done);
        SUBCASE("it gets out") {
            door.shut = false;
            REQUIRE(t.until([&] { return t.far->got(record_type::end) && t.far->wire.ended; }));
            t.far->wire.end();
            REQUIRE(t.until([&] { return t.end.done; }));
            CHECK(t.end.clean());
        }
        SUBCASE("the other end goes before") {
            t.far->wire.end();
            REQUIRE(t.until([&] { return t.end.done; }));
            CHECK(t.end.is(end_reason::tunnel_lost));
        }
        SUBCASE("it does not") {
            door.fails = boost::asio::error::broken_pipe;
            door.shut = false;
            REQUIRE(t.until([&] { return t.end.done; }));
            CHECK(t.end.is(end_reason::tunnel_lost));
        }
    }

    TEST_CASE("who takes leave first is told our goodbye all the same") {
        gate door;
        door.reads_on = true;  // so that the END and what follows it are met in one go
        one_tunnel t(default_limits(), {.door = &door});
        t.application.end();
        REQUIRE(t.until([&] { return t.far->got(record_type::end); }));
        t.far->send(record_type::end);
        t.far->pump();
        t.far->wire.end();
        REQUIRE(t.until([&] { return t.end.done; }));
        CHECK(t.end.clean());
        CHECK(door.goodbyes == 1);
        CHECK(t.until([&] { return t.far->wire.over() && t.application.over(); }));
        CHECK(t.far->wire.ended);
        CHECK(t.application.ended);
    }

    TEST_CASE("a slow application gets all of it after both ENDs") {
        one_tunnel t(default_limits(), {.small_buffers = true});
        const octets stream = seeded_random(fresh_seed()).bytes(700'000);
        t.application.end();
        for (std::size_t at = 0; at < stream.size(); at += 50'000)
            t.far->send(record_type::data, culvert::crypto::bytes_view(stream).subspan(at, 50'000));
        t.far->send(record_type::end);
        for (int i = 0; i < 50 && !t.end.done; ++i) {  // the application does not read
            t.far->pump();
            t.world.run_for(2ms);
        }
        CHECK_FALSE(t.end.done);
        REQUIRE(t.until([&] { return t.far->wire.ended && t.application.over(); }));
        CHECK(t.application.received == stream);
        CHECK(t.application.ended);
        CHECK(t.application.error == 0);
        t.far->wire.end();
        REQUIRE(t.until([&] { return t.end.done; }));
        CHECK(t.end.clean());
    }

    TEST_CASE("stop() tells the other end, and resets the application") {
        one_tunnel t;
        t.world.run_for(10ms);
        (*t.near)->stop(end_reason::shutdown);
        REQUIRE(t.until([&] { return t.far->alert() != 0; }));
        t.far->wire.end();
        CHECK(t.far->alert() == 4);
        check_application_reset(t, end_reason::shutdown);

        two_tunnels both;
        both.world.run_for(10ms);
        (*both.client)->stop(end_reason::shutdown);
        REQUIRE(both.until([&] { return both.both_done() && both.service.over(); }));
        CHECK(both.service.error == ECONNRESET);
        CHECK(both.server_end.is(end_reason::alerted));
    }

    TEST_CASE("stop() while a write waits: a record was cut, so the other end sees a reset") {
        one_tunnel t(default_limits(), {.small_buffers = true});
        const octets much(2'000'000);
        t.world.until([&] { return t.application.send(much), false; }, 300ms);
        (*t.near)->stop(end_reason::shutdown);
        REQUIRE(t.world.until([&] { return t.end.done; }));
        CHECK(t.end.is(end_reason::shutdown));
        CHECK(t.until([&] { return t.far->wire.over(); }));
        CHECK(t.far->wire.error == ECONNRESET);
        CHECK(t.far->alert() == 0);
    }

    TEST_CASE("an ALERT waits for a slow reader") {
        one_tunnel t;
        shrink_buffers(t.far->wire.fd());
        octets data(400'000);
        std::size_t sent = 0;
        REQUIRE(t.world.until([&] {
            sent += t.application.send(culvert::crypto::bytes_view(data).subspan(sent));
            return (*t.near)->moved().to_tunnel == data.size();
        }));
        (*t.near)->stop(end_reason::shutdown);
        // Nothing is read until the tunnel has given up waiting for the end.
        REQUIRE(t.world.until([&] { return t.end.done; }));
        CHECK(t.until([&] { return t.far->wire.over(); }));
        CHECK(t.far->stream.size() == data.size());
        CHECK(t.far->alert() == 4);
        CHECK(t.far->wire.ended);
    }

    TEST_CASE("without memory to take leave nothing waits any more, and all is closed") {
        gate door;
        door.no_memory = true;
        one_tunnel t(default_limits(), {.door = &door});
        end_both_ways(t);
        REQUIRE(t.until([&] { return t.end.done && t.far->wire.over(); }, 5s));
        CHECK(t.end.is(end_reason::tunnel_lost));
        CHECK(t.application.over());
        CHECK(t.pool.in_use() == 0);
    }

    TEST_CASE("the event loop goes with tunnels in full run: resets, and no leak") {
        auto t =
            std::make_unique<one_tunnel>(default_limits(), tunnel_options{.small_buffers = true});
        const octets much(2'000'000);
        for (int i = 0; i < 20; ++i) t->far->send(record_type::data, octets(50'000));
        t->world.until([&] { return t->far->pump(false), t->application.send(much), false; },
                       200ms);
        peer application = std::move(t->application);
        t.reset();
        application.pump();
        CHECK(application.error == ECONNRESET);
    }
}
