// What ends a session by its age or silence, and what keeps it alive.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/proxy/tunnel_ends.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;

namespace {

double seconds_since(culvert::carrier::time_point when) {
    return std::chrono::duration<double>(culvert::carrier::clock::now() - when).count();
}

}  // namespace

TEST_SUITE("tunnel: deadlines") {
    TEST_CASE("idle, too old, dead: the reason, the moment, what is said") {
        culvert::config::session_limits limits[3];
        limits[0].idle = 1s;
        limits[1].age = 1s;
        limits[2].dead_peer = 1s;
        const auto began = culvert::carrier::clock::now();
        one_tunnel idle(limits[0]), old(limits[1]), dead(limits[2]);
        one_tunnel* const all[] = {&idle, &old, &dead};
        while (!std::all_of(std::begin(all), std::end(all), [](auto* t) { return t->end.done; })) {
            for (one_tunnel* t : all) {
                t->pump();
                t->world.run_for(1ms);
                const bool heard = t->application.over();
                if (heard) t->far->wire.end();
                CHECK((!heard || seconds_since(began) >= 0.99));
            }
            REQUIRE(seconds_since(began) < 3);
        }
        for (one_tunnel* t : {&idle, &old}) CHECK(t->far->alert() == 3);
        check_application_reset(idle, end_reason::idle);
        check_application_reset(old, end_reason::too_old);
        check_application_reset(dead, end_reason::dead_peer);
        CHECK(dead.until([&] { return dead.far->wire.over(); }));
        CHECK(dead.far->records.empty());
    }

    TEST_CASE("stream bytes in one direction keep a session from being idle; PADs do not") {
        culvert::config::session_limits limits;
        limits.idle = 1s;
        limits.keepalive = 1s;
        one_tunnel busy(limits);
        one_tunnel quiet(limits);
        const auto began = culvert::carrier::clock::now();
        auto next = began;
        busy.until(
            [&] {
                quiet.pump();
                quiet.world.run_for(1ms);
                if (culvert::carrier::clock::now() < next) return false;
                next += 250ms;
                busy.far->send(record_type::data, octets(1));
                quiet.far->send(record_type::pad);
                return false;
            },
            1'600ms);
        CHECK_FALSE(busy.end.done);
        CHECK(quiet.far->alert() == 3);
    }

    TEST_CASE("PADs of the other end are life") {
        culvert::config::session_limits limits;
        limits.dead_peer = 1s;
        one_tunnel t(limits);
        auto next = culvert::carrier::clock::now();
        t.until(
            [&] {
                if (culvert::carrier::clock::now() >= next) {
                    next += 300ms;
                    t.far->send(record_type::pad);
                }
                return false;
            },
            1'400ms);
        CHECK_FALSE(t.end.done);
    }

    // Bytes were lost on the way, or a length was changed: what follows would fill the record up.
    TEST_CASE("a record that does not become whole ends the session, whatever drips in") {
        culvert::config::session_limits limits;
        limits.dead_peer = 1s;
        one_tunnel t(limits);
        const octets record = t.far->sealed(record_type::data, octets(1'000));
        const auto began = culvert::carrier::clock::now();
        auto next = began;
        std::size_t sent = 0;
        t.until(
            [&] {
                if (culvert::carrier::clock::now() >= next) {
                    next += 300ms;
                    t.far->send_raw({record[sent++]});
                }
                return t.application.over();
            },
            5s);
        REQUIRE(t.application.over());
        CHECK(seconds_since(began) >= 1.9);
        check_application_reset(t, end_reason::dead_peer);
    }

    TEST_CASE("slow records are life, if each becomes whole in time") {
        culvert::config::session_limits limits;
        limits.dead_peer = 1s;
        one_tunnel t(limits);
        octets records;
        for (int i = 0; i < 100; ++i) {
            const octets one = t.far->sealed(record_type::data, octets(10));
            records.insert(records.end(), one.begin(), one.end());
        }
        auto next = culvert::carrier::clock::now();
        std::size_t sent = 0;
        t.until(
            [&] {
                if (culvert::carrier::clock::now() >= next) {
                    next += 50ms;
                    t.far->send_raw({records[sent++]});
                }
                return t.end.done;
            },
            4s);
        CHECK_FALSE(t.end.done);
        CHECK(t.application.received.size() >= 10);
    }

    TEST_CASE("the clock of the dead peer stops while the application does not read") {
        culvert::config::session_limits limits;
        limits.dead_peer = 1s;
        one_tunnel t(limits, {.small_buffers = true});
        for (int i = 0; i < 20; ++i) t.far->send(record_type::data, octets(50'000));
        t.world.until([&] { return t.far->pump(), false; }, 1'600ms);
        CHECK_FALSE(t.end.done);
        REQUIRE(t.until([&] { return t.application.received.size() == 1'000'000; }));
        CHECK_FALSE(t.end.done);
    }

    TEST_CASE("after both ENDs the dead-peer rule ends the wait for the other end's goodbye") {
        culvert::config::session_limits limits;
        limits.dead_peer = 1s;
        one_tunnel t(limits);
        end_both_ways(t);
        check_clean(t);
        CHECK(t.until([&] { return t.far->wire.over(); }));
    }

    TEST_CASE("also when our own goodbye does not get out; and stop() does at once") {
        culvert::config::session_limits limits;
        limits.dead_peer = 1s;
        gate door;
        one_tunnel t(limits, {.door = &door});
        t.application.end();
        REQUIRE(t.until([&] { return t.far->got(record_type::end); }));
        door.shut = true;
        t.far->send(record_type::end);
        REQUIRE(t.until([&] { return t.application.ended; }));
        t.world.run_for(20ms);
        CHECK_FALSE(t.end.done);
        SUBCASE("the dead-peer rule") {
            REQUIRE(t.until([&] { return t.end.done; }, 3s));
        }
        SUBCASE("stop()") {
            (*t.near)->stop(end_reason::shutdown);
            REQUIRE(t.until([&] { return t.end.done; }, 500ms));
        }
        CHECK(t.end.clean());
    }

    TEST_CASE("a PAD goes out when nothing was sent for the interval, whatever is received") {
        culvert::config::session_limits limits;
        limits.keepalive = 1s;
        one_tunnel t(limits);
        const auto began = culvert::carrier::clock::now();
        auto next = began;
        t.until(
            [&] {
                if (culvert::carrier::clock::now() >= next) {
                    next += 100ms;
                    t.far->send(record_type::data, octets(10));
                }
                return false;
            },
            2'300ms);
        REQUIRE(t.far->records.size() >= 2);
        CHECK(t.far->records.size() <= 3);
        auto before = began;
        for (const auto& record : t.far->records) {
            CHECK(record.type == record_type::pad);
            const double gap = std::chrono::duration<double>(record.when - before).count();
            CHECK(gap >= 0.79);
            CHECK(gap < 1.5);
            before = record.when;
        }
    }

    TEST_CASE("a PAD that can't be written ends the session at once, not at the next one") {
        culvert::config::session_limits limits;
        limits.keepalive = 3s;
        gate door;
        door.fails = boost::asio::error::connection_reset;
        one_tunnel t(limits, {.door = &door});
        REQUIRE(t.until([&] { return door.failed; }));
        REQUIRE(t.until([&] { return t.end.done; }, 2s));
        check_application_reset(t, end_reason::tunnel_lost);
    }

    TEST_CASE("no PAD while data is sent") {
        culvert::config::session_limits limits;
        limits.keepalive = 1s;
        one_tunnel t(limits);
        auto next = culvert::carrier::clock::now();
        t.until(
            [&] {
                if (culvert::carrier::clock::now() >= next) {
                    next += 200ms;
                    t.application.send("x");
                }
                return false;
            },
            1'300ms);
        CHECK(t.far->count(record_type::pad) == 0);
    }
}
