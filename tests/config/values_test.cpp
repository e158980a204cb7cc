#include "config/values.hpp"

#include <doctest/doctest.h>

#include "config/connect.hpp"
#include "config/endpoint.hpp"

using namespace culvert::config;
using namespace std::chrono_literals;

TEST_SUITE("config.values") {
    TEST_CASE("times are written with and without a unit") {
        const seconds_range range{1s, 2h};
        CHECK(parse_seconds("10", range).value() == 10s);
        CHECK(parse_seconds("10s", range).value() == 10s);
        CHECK(parse_seconds("2m", range).value() == 120s);
        CHECK(parse_seconds("1h", range).value() == 3600s);
        CHECK(parse_seconds("1", range).value() == 1s);
        CHECK(parse_seconds("7200", range).value() == 2h);
    }

    TEST_CASE("what is no time is told what one is") {
        const seconds_range range{1s, 2h};
        for (const char* text : {"", "s", "500ms", "1.5", "-1", "+1", "10 s", "10S", "1d", "1e3",
                                 "0x10", "yes", " 1", "1m1s"}) {
            CAPTURE(text);
            const auto parsed = parse_seconds(text, range);
            REQUIRE(!parsed);
            CHECK(parsed.error().text == quote(text) + " is not a time: write 10, 10s, 2m or 1h");
        }
    }

    TEST_CASE("times are bounded, and the bounds are named") {
        const seconds_range range{5s, 5min};
        for (const char* text :
             {"0", "4", "4s", "301", "6m", "1h", "18446744073709551616", "18446744073709551615h",
              "5124095576030432h", "99999999999999999999999999"}) {
            CAPTURE(text);
            const auto parsed = parse_seconds(text, range);
            REQUIRE(!parsed);
            CHECK(parsed.error().text == quote(text) + " is out of range: 5s to 5m is accepted");
        }
    }

    TEST_CASE("off is a time only where it is allowed") {
        const seconds_range range{1s, 2h};
        CHECK(!parse_seconds("off", range));
        CHECK(parse_seconds_or_off("off", range).value() == std::nullopt);
        CHECK(parse_seconds_or_off("2m", range).value() == 120s);
        CHECK(!parse_seconds_or_off("0", range));
        CHECK(parse_seconds_or_off("never", range).error().text ==
              "'never' is not a time: write 10, 10s, 2m or 1h, or off");
    }

    TEST_CASE("rates are bytes a second, with or without a unit") {
        CHECK(parse_rate("1024").value() == 1024);
        CHECK(parse_rate("1K").value() == 1024);
        CHECK(parse_rate("500k").value() == 500 * 1024);
        CHECK(parse_rate("10M").value() == 10 * 1024 * 1024);
        CHECK(parse_rate("2g").value() == std::uint64_t{2} << 30);
        CHECK(parse_rate("100G").value() == std::uint64_t{100} << 30);
        for (const char* text : {"", "K", "1.5M", "-1", "10 M", "10MB", "10Mbit", "1T", "off"}) {
            CAPTURE(text);
            CHECK(parse_rate(text).error().text ==
                  quote(text) + " is not a rate: write bytes a second, as 500K or 10M");
        }
        for (const char* text : {"0", "1023", "101G", "99999999999999999999G"}) {
            CAPTURE(text);
            CHECK(parse_rate(text).error().text ==
                  quote(text) + " is out of range: 1K to 100G is accepted");
        }
    }

    TEST_CASE("counts are digits within bounds") {
        const count_range range{1, 1000};
        CHECK(parse_count("1", range).value() == 1);
        CHECK(parse_count("1000", range).value() == 1000);
        for (const char* text : {"", "1e9", "-1", "+1", "80x", "1.0", "0x1", "1k", "no", " 1"}) {
            CAPTURE(text);
            REQUIRE(!parse_count(text, range));
            CHECK(parse_count(text, range).error().text == quote(text) + " is not a whole number");
        }
        for (const char* text : {"0", "1001", "1000000000", "99999999999999999999999"}) {
            CAPTURE(text);
            REQUIRE(!parse_count(text, range));
            CHECK(parse_count(text, range).error().text ==
                  quote(text) + " is out of range: 1 to 1000 is accepted");
        }
    }

    TEST_CASE("ports are 1 to 65535") {
        CHECK(parse_port("1").value() == 1);
        CHECK(parse_port("65535").value() == 65535);
        for (const char* text : {"0", "65536", "-1", "80x", "", "x", "+80", "1e3", "4294967376"}) {
            CAPTURE(text);
            REQUIRE(!parse_port(text));
            CHECK(parse_port(text).error().text ==
                  "port " + quote(text) + " is not a number from 1 to 65535");
        }
    }

    TEST_CASE("names of services have a closed set of characters and a largest length") {
        CHECK(parse_name("Redis_6.x-1").value() == "Redis_6.x-1");
        CHECK(parse_name("").value().empty());
        CHECK(parse_name(std::string(255, 'a')).value().size() == 255);
        CHECK(!parse_name(std::string(256, 'a')));
        for (const char* text : {"a b", "a:b", "a/b", "caf\xc3\xa9", "a\n"}) {
            CAPTURE(text);
            CHECK(!parse_name(text));
        }
    }

    TEST_CASE("a word of a set, or the nearest one") {
        const choices<int> known{{"info", 1}, {"debug", 2}};
        CHECK(parse_choice("debug", known).value() == 2);
        CHECK(parse_choice("inof", known).error().text ==
              "unknown value 'inof', did you mean 'info'? (accepted: info, debug)");
        CHECK(parse_choice("trace", known).error().text ==
              "unknown value 'trace' (accepted: info, debug)");
    }

    TEST_CASE("connect decides the carrier and the path") {
        const uplink tcp = parse_connect("tcp://edge.example:7700").value();
        CHECK(tcp.carrier == carrier::tcp);
        CHECK(tcp.place == endpoint{"edge.example", 7700, ""});
        const uplink ws = parse_connect("ws://[2001:db8::1]:80/tunnel?a=b").value();
        CHECK(ws.carrier == carrier::websocket);
        CHECK(ws.place == endpoint{"2001:db8::1", 80, ""});
        CHECK(ws.path == "/tunnel?a=b");
        CHECK(parse_connect("ws://h:80").value().path == "/");
    }

    TEST_CASE("connect says what is wrong with it") {
        const auto why = [](std::string_view text) { return parse_connect(text).error().text; };
        CHECK(why("edge:7700") == "'edge:7700': write tcp://host:port or ws://host:port/path");
        CHECK(why("wss://h:1/") ==
              "unknown scheme 'wss', did you mean 'ws'? (accepted: tcp://host:port or "
              "ws://host:port/path)");
        CHECK(why("tcp://h:1/x") == "tcp:// takes no path: write tcp://host:port");
        CHECK(why("tcp://h") == "'h' has no port: write host:port");
        CHECK(why("tcp://:1") == "the host is missing: write host:port");
        CHECK(why("ws://h:0/") == "port '0' is not a number from 1 to 65535");
        CHECK(why("ws://h:1/a b") == "'/a b' holds a character that has to be percent-encoded");
        CHECK(why("ws://h:1/" + std::string(1024, 'a')) == "the path is longer than 1024 bytes");
    }

    TEST_CASE("times as text use the largest unit without a rest") {
        CHECK(to_text(90s) == "90s");
        CHECK(to_text(seconds(120)) == "2m");
        CHECK(to_text(seconds(7200)) == "2h");
        CHECK(to_text(seconds(0)) == "0s");
    }
}
