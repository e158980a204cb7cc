// Each mode against the backend, in this process; and what happens when somebody meddles.
#include <doctest/doctest.h>

#include <thread>

#include "bench/report.hpp"
#include "bench/run.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/meddler.hpp"

using namespace culvert::load;
using namespace culvert::load::testing;
using namespace std::chrono_literals;

namespace {

plan quick(mode what, const culvert::config::endpoint& to) {
    plan out;
    out.mode = what;
    out.to.plain = to;
    out.size = what == mode::bulk ? 262'144 : 100;
    out.reply_size = out.size;
    out.duration = 200ms;
    out.grace = 1s;
    out.quiet = true;
    return out;
}

outcome good_run(const plan& what) {
    outcome found = run(what);
    for (const auto& [reason, times] : found.failures.reasons()) FAIL_CHECK(reason);
    CHECK(integrity_text(found) == "ok");
    CHECK(found.counts.open == 0);
    return found;
}

// What is said of a run through a meddler.
std::string verdict_on(const plan& what) {
    const outcome found = run(what);
    CHECK(!succeeded(found));
    return integrity_text(found);
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("bench.modes") {
    TEST_CASE("bulk, in each direction, for a time") {
        const backend there(on_free_port());
        for (const direction way : {direction::up, direction::down, direction::both}) {
            plan what = quick(mode::bulk, there.address());
            what.direction = way;
            what.connections = 3;
            what.threads = 2;
            const outcome found = good_run(what);
            CHECK((found.counts.sent > 0) == (way != direction::down));
            CHECK((found.counts.received > 0) == (way != direction::up));
            CHECK(found.time < 1s);
        }
        CHECK(there.served().wrong == 0);
    }

    TEST_CASE("bulk of a number of bytes moves exactly those") {
        const backend there(on_free_port());
        for (const direction way : {direction::up, direction::down, direction::both})
            for (const std::uint64_t size :
                 {std::uint64_t{1}, std::uint64_t{40}, std::uint64_t{3'000'001}}) {
                plan what = quick(mode::bulk, there.address());
                what.direction = way;
                what.bytes = size;
                what.size = 10'000;
                what.duration = 10s;
                what.connections = 2;
                const outcome found = good_run(what);
                CHECK(found.counts.sent == (way == direction::down ? 0 : 2 * size));
                CHECK(found.counts.received == (way == direction::up ? 0 : 2 * size));
            }
    }

    TEST_CASE("latency in a closed loop, with answers of another size") {
        serve_plan two_threads = on_free_port();
        two_threads.threads = 2;
        const backend there(two_threads);
        for (const std::uint64_t answer : {1U, 100U, 300'000U}) {
            plan what = quick(mode::latency, there.address());
            what.reply_size = answer;
            what.connections = 4;
            const outcome found = good_run(what);
            CHECK(found.counts.requests > 10);
            CHECK(found.latencies.count() == found.counts.requests);
            CHECK(found.counts.received == found.counts.requests * answer);
            CHECK(found.latencies.quantile(0.5) > 1us);
        }
    }

    TEST_CASE("latency at a rate sends as many requests as the rate says") {
        const backend there(on_free_port());
        plan what = quick(mode::latency, there.address());
        what.duration = 500ms;
        what.rate = 400;
        what.connections = 4;
        const outcome found = good_run(what);
        CHECK(found.counts.requests + found.missed >= 195);
        CHECK(found.counts.requests + found.missed <= 200);
    }

    TEST_CASE("at a rate that is too high, waiting counts and missed requests are named") {
        const backend there(on_free_port());
        plan what = quick(mode::latency, there.address());
        what.duration = 300ms;
        what.rate = 10'000'000;
        const outcome found = good_run(what);
        CHECK(found.missed > 1'000'000);
        CHECK(found.latencies.max() > 200ms);  // the last one was due long ago
    }

    TEST_CASE("churn") {
        const backend there(on_free_port());
        plan what = quick(mode::churn, there.address());
        what.connections = 4;
        const outcome found = good_run(what);
        CHECK(found.counts.requests > 10);
        CHECK(found.latencies.count() == found.counts.requests);
    }

    TEST_CASE("with a warm-up only the duration after it counts, at all threads") {
        const backend there(on_free_port());
        for (const mode of : {mode::bulk, mode::latency, mode::churn}) {
            plan what = quick(of, there.address());
            what.warm_up = 400ms;
            what.connections = 2;
            what.threads = 2;
            const std::uint64_t before = there.served().received;
            const outcome found = good_run(what);
            CHECK(found.time >= 150ms);
            CHECK(found.time < 400ms);
            CHECK(found.cpu_seconds > 0);
            CHECK(found.counts.sent > 0);
            // The warm-up is twice as long: what it moved must not be among what is counted.
            CHECK(found.counts.sent < (there.served().received - before) * 3 / 4);
            if (of != mode::bulk) {
                CHECK(found.latencies.count() >= found.counts.requests);
                CHECK(found.latencies.count() <= found.counts.requests + what.connections);
            }
        }
    }

    TEST_CASE("a backend counts what open connections have moved") {
        const backend there(on_free_port());
        plan what = quick(mode::bulk, there.address());
        what.duration = 2s;
        outcome found;
        std::thread load([&] { found = run(what); });
        for (int waits = 0; waits < 1'000 && there.served().received == 0; ++waits)
            std::this_thread::sleep_for(1ms);
        CHECK(there.served().received > 0);
        CHECK(there.served().connections == 0);
        load.join();
        CHECK(there.served().received == found.counts.sent);
    }

    TEST_CASE("idle asks before and after") {
        const backend there(on_free_port());
        plan what = quick(mode::idle, there.address());
        what.connections = 100;
        what.threads = 2;
        const outcome found = good_run(what);
        CHECK(found.counts.requests == 200);
        CHECK(found.time >= 200ms);
    }

    TEST_CASE("over a unix socket") {
        serve_plan at = on_free_port();
        at.listen = {{}, 0, "/tmp/culvert-load-test." + std::to_string(at.listen.port)};
        const backend there(at);
        for (const mode what : {mode::bulk, mode::latency, mode::churn, mode::idle})
            good_run(quick(what, there.address()));
    }

    TEST_CASE("a foreign echo service is checked too") {
        serve_plan echo = on_free_port();
        echo.fixed = kind::echo;
        const backend there(echo);
        for (const mode what : {mode::bulk, mode::latency, mode::churn, mode::idle}) {
            plan raw = quick(what, there.address());
            raw.to.raw = true;
            raw.direction = direction::both;
            CHECK(good_run(raw).counts.received > 0);
        }
        plan harmed = quick(mode::bulk, there.address());
        harmed.to.raw = true;
        harmed.direction = direction::both;
        for (const harm what : {harm::flip, harm::lose, harm::repeat, harm::end}) {
            const meddler between(there.address(), {true, 500'000, what});
            harmed.to.plain = between.address();
            CHECK(contains(verdict_on(harmed), "failed: "));
        }
    }

    TEST_CASE("any harm to any stream is found") {
        const backend there(on_free_port());
        for (const harm what : {harm::flip, harm::lose, harm::repeat, harm::end, harm::reset})
            for (const bool down : {false, true}) {
                CAPTURE(static_cast<int>(what));
                CAPTURE(down);
                const meddler between(there.address(), {down, 700'000, what});
                plan harmed = quick(mode::bulk, between.address());
                harmed.direction = down ? direction::down : direction::up;
                CHECK(contains(verdict_on(harmed), "failed: "));
                harmed.direction = direction::both;
                CHECK(contains(verdict_on(harmed), "failed: "));
            }
    }

    TEST_CASE("harm to a request, an answer and a verdict is found") {
        const backend there(on_free_port());
        plan small = quick(mode::bulk, there.address());
        small.bytes = 1'000;
        for (const mischief harmed :
             {mischief{false, 30, harm::flip}, mischief{true, 20, harm::flip},
              mischief{true, 20, harm::end}, mischief{true, 0, harm::end}}) {
            const meddler between(there.address(), harmed);
            small.to.plain = between.address();
            CHECK(contains(verdict_on(small), "failed: "));
        }
        const meddler between(there.address(), {true, 150, harm::flip});
        CHECK(contains(verdict_on(quick(mode::latency, between.address())),
                       "wrong data: byte 150 came back changed"));
        CHECK(
            contains(verdict_on(quick(mode::churn,
                                      meddler(there.address(), {true, 50, harm::flip}).address())),
                     "failed: "));
    }

    TEST_CASE("the backend says which byte was changed on the way to it") {
        const backend there(on_free_port());
        const meddler between(there.address(), {false, request_size + 123'456, harm::flip});
        CHECK(verdict_on(quick(mode::bulk, between.address())) ==
              "failed: wrong data: byte 123456 reached the backend changed");
        // The backend counts a connection after its end, which may be after ours.
        for (int waits = 0; waits < 200 && there.served().wrong == 0; ++waits)
            std::this_thread::sleep_for(5ms);
        CHECK(there.served().wrong == 1);
    }

    TEST_CASE("a target that falls silent does not hold the run") {
        const backend there(on_free_port());
        const meddler between(there.address(), {true, 150, harm::swallow});
        plan stuck = quick(mode::latency, between.address());
        stuck.grace = 200ms;
        const outcome found = run(stuck);
        CHECK(contains(integrity_text(found), "no end within the grace"));
        CHECK(found.time < 1s);
    }

    TEST_CASE("nothing listens") {
        for (const mode what : {mode::bulk, mode::latency, mode::churn, mode::idle}) {
            plan lost = quick(what, free_address());
            lost.connections = 2;
            const outcome found = run(lost);
            CHECK(found.failures.count() == 2);
            REQUIRE(found.failures.reasons().size() == 1);
            CHECK(contains(found.failures.reasons().begin()->first, "Connection refused"));
            CHECK(contains(integrity_text(found), "nothing came through"));
        }
    }
}
