// Places that can be reached or not, and the order in which one connection tries several.
#include "proxy/relay/place.hpp"

#include <doctest/doctest.h>

#include <boost/asio/error.hpp>

using namespace culvert;
using namespace std::chrono_literals;
using steady = carrier::clock;
using relay::place;
using relay::place_search;
using standing = place::standing;

namespace {

std::shared_ptr<place> new_place(const std::string& name = "h:1") {
    return std::make_shared<place>("test", name);
}

std::vector<place_search::member> members(std::size_t count) {
    std::vector<place_search::member> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back({new_place(std::to_string(i))});
    return made;
}

using numbers = std::vector<std::size_t>;

}  // namespace

TEST_SUITE("places: one") {
    TEST_CASE("down after a failure, due after a pause, up after an answer") {
        const auto at = new_place();
        const auto now = steady::now();
        CHECK(at->look(now) == standing::up);
        at->failed("refused", now);
        CHECK(at->look(now) == standing::down);
        CHECK(at->look(now + place::first_pause / 2 - 1ms) == standing::down);
        CHECK(at->look(now + place::first_pause) == standing::due);
        CHECK_FALSE(at->status().up);
        at->answered(now + 2s);
        CHECK(at->look(now + 2s) == standing::up);
        CHECK(at->status().up);
        CHECK(at->status().failures == 1);
    }

    TEST_CASE("pauses grow up to the longest one, and begin anew after an answer") {
        const auto at = new_place();
        auto now = steady::now();
        auto most = std::chrono::milliseconds(place::first_pause);
        for (int failures = 0; failures < 12; ++failures) {
            at->failed("refused", now);
            CHECK(at->look(now + most / 2 - 1ms) == standing::down);
            CHECK(at->look(now + most) == standing::due);
            now += most;
            most = std::min(2 * most, place::longest_pause);
        }
        at->answered(now);
        at->failed("refused", now);
        CHECK(at->look(now + place::first_pause) == standing::due);
    }

    TEST_CASE("failures of tries that were under way together are one") {
        const auto at = new_place();
        const auto now = steady::now();
        for (int i = 0; i < 50; ++i) at->failed("refused", now);
        CHECK(at->look(now + place::first_pause) == standing::due);
        CHECK(at->status().failures == 50);
    }

    TEST_CASE("one at a time tries a place that was down") {
        const auto at = new_place();
        const auto later = steady::now() + place::first_pause;
        at->failed("refused", steady::now());
        REQUIRE(at->look(later) == standing::due);
        {
            auto first = at->begin(standing::due, later);
            REQUIRE(first.has_value());
            CHECK(at->look(later) == standing::down);
            CHECK_FALSE(at->begin(standing::due, later).has_value());
            // Whoever has nothing better may go there all the same, and ends nobody's trial.
            const auto forced = at->begin(standing::down, later);
            CHECK(forced.has_value());
        }
        CHECK(at->look(later) == standing::due);  // it came to nothing: the next one may
        auto second = at->begin(standing::due, later);
        REQUIRE(second.has_value());
        second->failed("refused");
        CHECK(at->look(steady::now()) == standing::down);
        CHECK(at->look(steady::now() + 2 * place::first_pause) == standing::due);
    }

    TEST_CASE("connections are counted while they are held") {
        const auto at = new_place();
        {
            auto one = at->begin(standing::up, steady::now());
            CHECK(at->open() == 0);
            one->answered();
            const auto moved = std::move(*one);
            auto two = at->begin(standing::up, steady::now());
            two->answered();
            CHECK(at->open() == 2);
            CHECK(at->status().open == 2);
        }
        CHECK(at->open() == 0);
        CHECK(at->status().connections == 2);
        CHECK(at->status().name == "h:1");
    }
}

TEST_SUITE("places: several") {
    TEST_CASE("each once, those that are down last") {
        const auto all = members(3);
        const auto now = steady::now();
        all[1].at->failed("refused", now);
        place_search way(all);
        CHECK(way.best(now) == numbers{0, 2});
        CHECK(way.begin(2, now).has_value());
        CHECK(way.best(now) == numbers{0});
        CHECK(way.begin(0, now).has_value());
        CHECK(way.best(now) == numbers{1});
        CHECK(way.begin(1, now).has_value());
        CHECK(way.best(now).empty());
    }

    TEST_CASE("one that is due is as good as those that are up, unless its checks see to it") {
        const auto all = members(2);
        const auto now = steady::now();
        all[0].at->failed("refused", now);
        const auto later = now + place::first_pause;
        CHECK(place_search(all).best(later) == numbers{0, 1});
        CHECK(place_search(all, true).best(later) == numbers{1});
        place_search one(all), two(all);
        const auto trial = one.begin(0, later);
        REQUIRE(trial.has_value());
        CHECK(two.best(later) == numbers{1});
    }

    TEST_CASE("backups only where nothing else can be had, but before what is down") {
        auto all = members(3);
        all[0].backup = true;
        const auto now = steady::now();
        place_search way(all);
        CHECK(way.best(now) == numbers{1, 2});
        all[1].at->failed("refused", now);
        CHECK(way.best(now) == numbers{2});
        all[2].at->failed("refused", now);
        CHECK(way.best(now) == numbers{0});
        all[0].at->failed("refused", now);
        CHECK(way.best(now) == numbers{1, 2});  // all are down: as if none were
    }

    TEST_CASE("each gets a share of the time, the last one the rest") {
        const auto all = members(4);
        const auto now = steady::now();
        all[3].at->failed("refused", now);
        const auto later = now + place::first_pause;
        place_search way(all);
        const auto share = [&](std::size_t which, steady::duration left) {
            const auto begun = way.begin(which, later);
            return std::chrono::duration_cast<std::chrono::milliseconds>(way.share_of(left));
        };
        CHECK(share(0, 8s) == 2s);
        CHECK(share(1, 60s) == 3s);   // enough for any place that answers
        CHECK(share(3, 60s) == 1s);   // not longer: it was down
        CHECK(share(2, 60s) == 60s);  // the last
    }

    TEST_CASE("what is short on this host is no fault of the place") {
        namespace asio = boost::asio;
        CHECK(relay::is_our_own(asio::error::no_descriptors));
        CHECK(relay::is_our_own({EADDRNOTAVAIL, boost::system::system_category()}));
        CHECK_FALSE(relay::is_our_own(asio::error::connection_refused));
        CHECK_FALSE(relay::is_our_own(asio::error::timed_out));
        CHECK_FALSE(relay::is_our_own(asio::error::host_not_found));
        CHECK_FALSE(relay::is_our_own({}));
    }
}
