// The property itself: what is a violation of it, and what is not.
#include <doctest/doctest.h>

#include "tests/faults/judge.hpp"

using namespace culvert::faults;

namespace {

// A connection that went well; each test spoils something.
struct connection {
    script what = *parse_script("app send=100; service send=50");
    bool harmed = true;
    end_report app{100, true, 50, std::nullopt, seen_end::clean, {}};
    std::optional<end_report> service =
        end_report{50, true, 100, std::nullopt, seen_end::clean, {}};

    [[nodiscard]] outcome is() const { return judge(what, harmed, app, service).outcome; }
    [[nodiscard]] std::string why() const { return judge(what, harmed, app, service).why; }
};

}  // namespace

TEST_SUITE("faults: judge") {
    TEST_CASE("outcomes that are none of them a lie") {
        connection c;
        CHECK(c.is() == outcome::clean);
        SUBCASE("half") {
            c.service->saw = seen_end::reset;
            c.service->read = 99;
            CHECK(c.is() == outcome::half);
        }
        SUBCASE("all bytes, and then no clean end") {
            c.app.saw = c.service->saw = seen_end::reset;
            CHECK(c.is() == outcome::reset_in_transfer);
        }
        SUBCASE("nothing came") {
            c.app.saw = c.service->saw = seen_end::reset;
            c.app.read = c.service->read = 0;
            CHECK(c.is() == outcome::reset_at_once);
        }
        SUBCASE("the service was never reached") {
            c.service.reset();
            c.app.saw = seen_end::reset;
            c.app.read = 0;
            CHECK(c.is() == outcome::reset_at_once);
        }
        SUBCASE("one left") {
            c.what.app.leaves = departure{leaving::reset, 40};
            c.app = {40, false, 0, std::nullopt, seen_end::left, {}};
            c.service->read = 40;
            c.service->saw = seen_end::reset;
            c.harmed = false;
            CHECK(c.is() == outcome::left);
        }
        SUBCASE("one closed in good order, and its bytes came") {
            c.what.app.leaves = departure{leaving::close, 40};
            c.app = {40, true, 0, std::nullopt, seen_end::left, {}};
            c.service->read = 40;
            CHECK(c.is() == outcome::left);
        }
    }

    TEST_CASE("lies, and what hangs") {
        connection c;
        SUBCASE("a clean end too early") {
            c.service->read = 99;
            CHECK(c.why() == "the service: a clean end after 99 of 100 bytes");
        }
        SUBCASE("a clean end of what did not end") {
            c.app.ended = false;
            CHECK(c.why() == "the service: a clean end of a stream that never ended");
        }
        SUBCASE("a clean end where the service was never reached") {
            c.service.reset();
            c.app.read = 0;
            CHECK(c.why() == "the application: a clean end of a stream that never ended");
        }
        SUBCASE("wrong bytes, even with a reset") {
            c.app.first_wrong = 7;
            c.app.saw = seen_end::reset;
            CHECK(c.why() == "the application: byte 7 is not what was written");
        }
        SUBCASE("more than was written") {
            c.service->read = 101;
            c.service->saw = seen_end::reset;
            CHECK(c.why() == "the service: 101 bytes came, 100 were written");
        }
        SUBCASE("no end") {
            c.app.saw = seen_end::nothing;
            CHECK(c.why() == "the application: no end was seen within the deadline");
        }
        SUBCASE("an error that is no reset") {
            c.app.saw = seen_end::other;
            c.app.error = "timed out";
            CHECK(c.why() == "the application: the end is neither clean nor a reset: timed out");
        }
        SUBCASE("a reset without a fault") {
            c.harmed = false;
            c.app.saw = seen_end::reset;
            CHECK(c.why() == "no fault, and yet a stream was not whole");
        }
        CHECK(c.is() == outcome::violation);
    }
}
