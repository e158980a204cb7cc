// Scripts: their text, and what is drawn at random.
#include <doctest/doctest.h>

#include "tests/faults/random_script.hpp"

using namespace culvert::faults;

namespace {

std::string mistake_in(std::string_view text) {
    std::string mistake = "none";
    CHECK_FALSE(parse_script(text, &mistake).has_value());
    return mistake;
}

}  // namespace

TEST_SUITE("faults: scripts") {
    TEST_CASE("every word means what it says") {
        const auto made = parse_script(
            "app send=5000 piece=300 read=7 rest=2ms late close@44; service send=9 reset@0;"
            "up delay=5ms split=80 flip@77.3 drop@80+2 repeat@82+5 swap@87+6 cut@1234; "
            "down trickle=3 dark@0");
        REQUIRE(made.has_value());
        CHECK(made->app == application_script{5'000, 300, 7, milliseconds(2), ending::late,
                                              departure{leaving::close, 44}});
        CHECK(made->service.leaves == departure{leaving::reset, 0});
        CHECK(made->up.delay == milliseconds(5));
        CHECK(made->up.segments == segments::up_to);
        CHECK(made->up.segment == 80);
        REQUIRE(made->up.edits.size() == 4);
        CHECK(made->up.edits[0] == edit{edit_kind::flip, 77, 1, 3});
        CHECK(made->up.edits[1] == edit{edit_kind::drop, 80, 2, 0});
        CHECK(made->up.edits[2] == edit{edit_kind::repeat, 82, 5, 0});
        CHECK(made->up.edits[3] == edit{edit_kind::swap, 87, 6, 0});
        CHECK(made->up.end == path_end{fate::cut, 1'234});
        CHECK(made->down.segments == segments::exactly);
        CHECK(made->down.end == path_end{fate::dark, 0});
        CHECK(parse_script("service reply")->service.end == ending::reply);
        CHECK(parse_script("up truncate@5")->up.end == path_end{fate::truncate, 5});
        CHECK(parse_script("up rst@5")->up.end == path_end{fate::reset, 5});
        CHECK(parse_script("") == script());
        CHECK(parse_script("up; app") == script());
    }

    TEST_CASE("what is no script is refused, and the mistake is named") {
        CHECK(mistake_in("nobody send=1") == "no such part: 'nobody'");
        CHECK(mistake_in(";") == "no such part: ''");
        CHECK(mistake_in("up; down; up") == "said twice: 'up'");
        CHECK(mistake_in("app send=1 send=2") == "said twice: 'send=2'");
        CHECK(mistake_in("app late reply") == "said twice: 'reply'");
        CHECK(mistake_in("up cut@1 rst@2") == "said twice: 'rst@2'");
        CHECK(mistake_in("up split=1 trickle=2") == "said twice: 'trickle=2'");
        CHECK(mistake_in("app flip@1.2") == "unknown to an application: 'flip@1.2'");
        CHECK(mistake_in("up send=1") == "unknown to a path: 'send=1'");
        CHECK(mistake_in("up cut=1") == "unknown to a path: 'cut=1'");
        CHECK(mistake_in("app send@1") == "unknown to an application: 'send@1'");
        for (const char* number :
             {"", "-1", "+1", "01", "1x", " 1", "1073741825", "99999999999999999999"})
            CHECK(mistake_in(std::string("app send=") + number).starts_with("no number in range"));
        CHECK(mistake_in("app piece=0") == "no number in range: '0'");
        CHECK(mistake_in("app rest=5") == "no time in ms: '5'");
        CHECK(mistake_in("app rest=1001ms") == "no number in range: '1001'");
        CHECK(mistake_in("up flip@5") == "incomplete: 'flip@5'");
        CHECK(mistake_in("up flip@5.8") == "no number in range: '8'");
        CHECK(mistake_in("up drop@5+0") == "no number in range: '0'");
        CHECK(mistake_in("up swap@5+3 flip@10.0") ==
              "reaches into the edit before it: 'flip@10.0'");
        CHECK(mistake_in("app send=4 close@5") == "it leaves after more than it sends");
        CHECK(mistake_in("app late; service reply") ==
              "both applications wait for the other's end");
        std::string many = "up";
        for (int i = 0; i < 17; ++i) many += " flip@" + std::to_string(i) + ".0";
        CHECK(mistake_in(many) == "too many edits: 'flip@16.0'");
    }

    TEST_CASE("the text of a script is that script, for thousands of seeds") {
        for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
            const script drawn = random_script(seed);
            const std::string text = text_of(drawn);
            std::string mistake;
            const auto again = parse_script(text, &mistake);
            INFO(seed, ": ", text, " ", mistake);
            REQUIRE(again.has_value());
            REQUIRE(*again == drawn);
            REQUIRE(random_script(seed) == drawn);
        }
    }

    TEST_CASE("a seed draws the same script on every machine") {
        CHECK(text_of(random_script(1)) ==
              "app send=18699 piece=19 read=308 reset@8216; service send=2 piece=1180 read=14751; "
              "down delay=3ms trickle=1047");
    }

    TEST_CASE("seeds draw everything there is") {
        unsigned harmless = 0, dark = 0, edits = 0, leave = 0, nothing = 0;
        for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
            const script drawn = random_script(seed);
            harmless += !drawn.up.destroys() && !drawn.down.destroys();
            for (const auto* path : {&drawn.up, &drawn.down}) {
                dark += path->end && path->end->how == fate::dark;
                edits += !path->edits.empty();
            }
            for (const auto* end : {&drawn.app, &drawn.service}) {
                leave += end->leaves.has_value();
                nothing += end->send == 0;
            }
        }
        for (const unsigned count : {harmless, edits}) CHECK(count > 2'000);
        for (const unsigned count : {leave, nothing}) CHECK(count > 500);
        CHECK(dark > 100);
        CHECK(dark < 500);
    }
}
