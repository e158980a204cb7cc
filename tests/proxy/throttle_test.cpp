// The rate of a client: what its bucket gives, and what tunnels make of it. A busy machine makes
// everything slower, so only the upper bounds are tight.
#include "proxy/relay/throttle.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "tests/proxy/tunnel_ends.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;
using culvert::relay::share;
using culvert::relay::token_bucket;
using clock_type = culvert::carrier::clock;
using time_point = culvert::carrier::time_point;

namespace {

constexpr std::uint64_t kibi = 1'024;
constexpr std::uint64_t mebi = kibi * kibi;

double seconds_since(time_point when) {
    return std::chrono::duration<double>(clock_type::now() - when).count();
}

// What may have come through after this time: the rate, a burst of a tenth of a second, and the
// portions under way.
double most_after(double seconds, std::uint64_t rate) {
    return static_cast<double>(rate) * (seconds + 0.1 + 2.0 / 32);
}

struct buckets {
    token_bucket to_tunnel;
    token_bucket from_tunnel;

    [[nodiscard]] tunnel_options with(std::uint64_t rate) {
        tunnel_options options;
        options.rate = rate;
        options.to_tunnel = &to_tunnel;
        options.from_tunnel = &from_tunnel;
        return options;
    }
};

// An application, or another end, that always has something to say.
void say(one_tunnel& t, bool application_says) {
    static const octets piece(50'000, 'x');
    if (application_says)
        t.application.send(piece);
    else if (t.far->sent())
        t.far->send(record_type::data, piece);
}

std::size_t heard(const one_tunnel& t, bool application_says) {
    return application_says ? t.far->stream.size() : t.application.received.size();
}

}  // namespace

TEST_SUITE("throttle: the bucket") {
    TEST_CASE("gives turns in the order of asking, and saves up so much and no more") {
        token_bucket bucket;
        const time_point t0 = clock_type::now();
        const auto take = [&](std::chrono::milliseconds cost, time_point now) {
            return (bucket.take(cost, 100ms, now) - t0) / 1ms;
        };
        CHECK(take(60ms, t0) == -100);  // at once: there is something saved
        CHECK(take(60ms, t0) == -40);
        CHECK(take(60ms, t0) == 20);  // and now one waits
        CHECK(take(60ms, t0) == 80);
        CHECK(take(60ms, t0 + 10s) == 9'900);  // long ago is forgotten
        bucket.charge(-60ms);
        CHECK(take(60ms, t0 + 10s) == 9'900);
        bucket.charge(1s);
        CHECK(take(60ms, t0 + 10s) == 10'960);
    }

    TEST_CASE("loses nothing between threads") {
        token_bucket bucket;
        const time_point now = clock_type::now();
        static_cast<void>(bucket.take(0ms, 0ms, now));
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int n = 0; n < 10'000; ++n) {
                    static_cast<void>(bucket.take(3us, 0ms, now));
                    bucket.charge(-1us);
                }
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(bucket.take(0ms, 0ms, now) - now == 80ms);
    }

    TEST_CASE("a share settles for what it has used, and gives back what it never used") {
        loop world;
        token_bucket bucket;
        const time_point now = clock_type::now();
        static_cast<void>(bucket.take(0ms, 0ms, now));
        const auto taken = [&] { return (bucket.take(0ms, 0ms, now) - now) / 1us; };
        {
            share half(world.executor(), bucket, mebi);
            CHECK(half.portion() == mebi / 32);
            CHECK(half.ready(now) == now);
            CHECK(half.ready(now) == now);  // takes nothing more
            CHECK(taken() == 31'250);
            half.settle(half.portion() / 2);
            CHECK(taken() == 15'625);
            half.settle(mebi);  // more than was taken: that is owed
            CHECK(taken() == 1'015'625);
            CHECK(half.ready(now) > now);
        }
        CHECK(taken() == 1'015'625);
        CHECK(share(world.executor(), bucket, kibi).portion() == kibi);
        CHECK(share(world.executor(), bucket, 100 * kibi * mebi).portion() ==
              culvert::relay::buffer::size);
    }
}

TEST_SUITE("throttle: tunnels") {
    TEST_CASE("a direction keeps to the rate, and reaches it") {
        for (const bool application_says : {true, false}) {
            CAPTURE(application_says);
            buckets client;
            one_tunnel t(default_limits(), client.with(mebi));
            const auto began = clock_type::now();
            const std::size_t enough = mebi + mebi / 2;
            REQUIRE(t.until([&] {
                const std::size_t so_far = heard(t, application_says);
                CHECK(static_cast<double>(so_far) <= most_after(seconds_since(began), mebi));
                if (so_far < enough) say(t, application_says);
                return so_far >= enough;
            }));
            CHECK(seconds_since(began) >= 1.3);
            CHECK_FALSE(t.end.done);
        }
    }

    TEST_CASE("the directions have the rate each, all tunnels of the client together") {
        buckets client;
        one_tunnel up(default_limits(), client.with(mebi));
        one_tunnel down_one(default_limits(), client.with(mebi));
        one_tunnel down_two(default_limits(), client.with(mebi));
        const auto began = clock_type::now();
        std::size_t sum = 0;
        while (sum < mebi || heard(up, true) < mebi) {
            say(up, true);
            say(down_one, false);
            say(down_two, false);
            for (one_tunnel* t : {&up, &down_one, &down_two}) {
                t->pump();
                t->world.run_for(1ms);
            }
            sum = heard(down_one, false) + heard(down_two, false);
            const double most = most_after(seconds_since(began), mebi);
            CHECK(static_cast<double>(heard(up, true)) <= most);
            // The second tunnel has a portion under way as well.
            CHECK(static_cast<double>(sum) <= most + mebi / 32.0);
            REQUIRE(seconds_since(began) < 20);
        }
        CHECK(seconds_since(began) >= 0.8);
        for (const one_tunnel* t : {&down_one, &down_two}) CHECK(heard(*t, false) >= sum / 4);
    }

    TEST_CASE("what was held back arrives whole, and in good order ends") {
        buckets client;
        one_tunnel t(default_limits(), client.with(256 * kibi));
        octets text(200'000);
        for (std::size_t i = 0; i < text.size(); ++i)
            text[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
        std::size_t said = 0;
        t.far->send(record_type::data, culvert::crypto::bytes_view(text).first(60'000));
        t.far->send(record_type::data, culvert::crypto::bytes_view(text).subspan(60'000, 60'000));
        t.far->send(record_type::data, culvert::crypto::bytes_view(text).subspan(120'000, 60'000));
        t.far->send(record_type::data, culvert::crypto::bytes_view(text).subspan(180'000));
        REQUIRE(t.until([&] {
            said += t.application.send(culvert::crypto::bytes_view(text).subspan(said));
            return t.far->stream.size() == text.size() &&
                   t.application.received.size() == text.size();
        }));
        CHECK(t.far->stream == text);
        CHECK(t.application.received == text);
        end_both_ways(t);
        check_clean(t);
    }

    TEST_CASE("who is held back is neither idle nor dead") {
        buckets client;
        auto limits = default_limits();
        limits.idle = 1s;
        limits.dead_peer = 1s;  // so a record has 2 s
        one_tunnel t(limits, client.with(16 * kibi));
        t.far->send(record_type::data, octets(60'000, 'x'));
        const auto began = clock_type::now();
        REQUIRE(t.until([&] { return t.application.received.size() == 60'000 || t.end.done; }));
        CHECK_FALSE(t.end.done);
        CHECK(seconds_since(began) >= 3.2);
        // The clocks go on where nobody is held back.
        CHECK(t.until([&] { return t.end.done; }, 5s));
    }

    TEST_CASE("nor does a record live longer that drips in below the rate") {
        buckets client;
        auto limits = default_limits();
        limits.dead_peer = 1s;
        one_tunnel t(limits, client.with(mebi));
        const octets record = t.far->sealed(record_type::data, octets(1'000));
        const auto began = clock_type::now();
        auto next = began;
        std::size_t sent = 0;
        t.until(
            [&] {
                if (clock_type::now() >= next) {
                    next += 300ms;
                    t.far->send_raw({record[sent++]});
                }
                return t.application.over();
            },
            5s);
        check_application_reset(t, end_reason::dead_peer);
    }

    TEST_CASE("a pause holds no buffer, and a stop does not wait for its end") {
        buckets client;
        one_tunnel t(default_limits(), client.with(kibi));
        t.application.send(octets(20'000, 'x'));
        REQUIRE(t.until([&] { return heard(t, true) >= kibi; }));
        t.world.run_for(50ms);
        CHECK(t.pool.in_use() == 0);
        const auto asked = clock_type::now();
        (*t.near)->stop(end_reason::shutdown);
        REQUIRE(t.until([&] { return t.application.over(); }));
        CHECK(t.application.error == ECONNRESET);
        t.far->wire.end();
        REQUIRE(t.until([&] { return t.end.done; }));
        CHECK(seconds_since(asked) < 2);
        CHECK(t.end.is(end_reason::shutdown));
        CHECK(t.pool.in_use() == 0);
    }

    TEST_CASE("an application that resets during a pause is heard after it") {
        buckets client;
        one_tunnel t(default_limits(), client.with(16 * kibi));
        t.application.send(octets(8'000, 'x'));
        REQUIRE(t.until([&] { return heard(t, true) > 0; }));
        t.application.reset();
        CHECK(t.until([&] { return t.end.is(end_reason::application_reset); }, 5s));
    }
}
