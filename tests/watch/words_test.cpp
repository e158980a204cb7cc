#include "proxy/watch/words.hpp"

#include <doctest/doctest.h>

using namespace culvert::watch;

TEST_SUITE("watch.words") {
    TEST_CASE("numbers") {
        CHECK(count_text(0) == "0");
        CHECK(count_text(999) == "999");
        CHECK(count_text(1'234'567) == "1,234,567");
        CHECK(number_text({}) == "-");
        CHECK(number_text(0) == "0");
        CHECK(number_text(0.123) == "0.123");
        CHECK(number_text(45.67) == "45.7");
        CHECK(number_text(100.4) == "100");
        CHECK(number_text(2'345.6) == "2,346");
    }

    TEST_CASE("sizes and rates") {
        CHECK(size_text(0) == "0 B");
        CHECK(size_text(1'023) == "1023 B");
        CHECK(size_text(1'536) == "1.5 KiB");
        CHECK(size_text(200.0 * 1'048'576) == "200 MiB");
        CHECK(rate_text({}) == "-");
        CHECK(rate_text(2'048) == "2.0 KiB/s");
    }

    TEST_CASE("times") {
        CHECK(duration_text(0.0005) == "500 µs");
        CHECK(duration_text(0.0123) == "12.3 ms");
        CHECK(duration_text(1.25) == "1.2 s");
        CHECK(duration_text(59.6) == "1 min");
        CHECK(duration_text(75) == "1 min 15 s");
        CHECK(duration_text(3'600) == "1 h");
        CHECK(duration_text(7'320) == "2 h 2 min");
        CHECK(duration_text(90'061) == "1 d 1 h");
    }

    TEST_CASE("cutting counts characters, not bytes") {
        CHECK(width_of("12 µs") == 5);
        CHECK(cut("12 µs", 5) == "12 µs");
        CHECK(cut("12 µs", 4) == "12 µ");
        CHECK(cut("abc", 0).empty());
    }

    TEST_CASE("columns are as wide as their widest word") {
        table some({"NAME", ">COUNT", "WHERE"});
        some.add({"a", "1", "here"});
        some.add({"µµµµµ", "1,000", ""});
        CHECK(some.lines() == std::vector<std::string>{"NAME    COUNT   WHERE",  //
                                                       "a           1   here",   //
                                                       "µµµµµ   1,000"});
    }

    TEST_CASE("a word that is too long gives room to others") {
        table some({"NAME", "WHERE"});
        some.add({std::string(200, 'x'), "here"});
        CHECK(some.lines()[1] == std::string(37, 'x') + "...   here");
    }
}
