#include "bench/timeline.hpp"

#include <doctest/doctest.h>

using namespace culvert::load;
using namespace std::chrono_literals;

namespace {

// What a run counts that asks once a millisecond.
totals after(std::chrono::nanoseconds time) {
    totals out;
    out.requests = static_cast<std::uint64_t>(time / 1ms);
    return out;
}

}  // namespace

TEST_SUITE("bench.timeline") {
    TEST_CASE("it begins with nothing, and keeps what it is given") {
        timeline over_time;
        REQUIRE(over_time.moments().size() == 1);
        CHECK(over_time.moments()[0].at == 0ns);
        CHECK(over_time.interval() <= 1s);
        over_time.add(100ms, after(100ms));
        over_time.add(200ms, after(200ms));
        REQUIRE(over_time.moments().size() == 3);
        CHECK(over_time.moments()[1].so_far.requests == 100);
        CHECK(over_time.moments()[2].at == 200ms);
    }

    TEST_CASE("time only rises") {
        timeline over_time;
        over_time.add(100ms, after(100ms));
        over_time.add(100ms, after(200ms));
        CHECK(over_time.moments().size() == 2);
    }

    TEST_CASE("a day fits, evenly spaced, and nothing counted is lost") {
        timeline over_time;
        std::chrono::nanoseconds now = 0ns;
        while (now < 24h) {
            now += over_time.interval();
            over_time.add(now, after(now));
            REQUIRE(over_time.moments().size() <= timeline::most_moments);
        }
        const auto& all = over_time.moments();
        CHECK(all.size() >= timeline::most_moments / 2);
        CHECK(all.front().at == 0ns);
        CHECK(all.back().at == now);
        for (std::size_t i = 1; i < all.size(); ++i) {
            CHECK(all[i].so_far.requests == after(all[i].at).requests);
            CHECK(all[i].at - all[i - 1].at <= over_time.interval());
        }
    }
}
