#include "bench/options.hpp"

#include <doctest/doctest.h>

#include "bench/units.hpp"

using namespace culvert::load;
using namespace std::chrono_literals;

namespace {

plan plan_of(const std::vector<std::string>& words) {
    return std::get<plan>(parse_command_line(words));
}

std::string refusal(const std::vector<std::string>& words) {
    try {
        parse_command_line(words);
    } catch (const usage_error& error) {
        return error.what();
    }
    return "accepted";
}

bool says(const std::vector<std::string>& words, const std::string& part) {
    const std::string text = refusal(words);
    INFO(text);
    return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("bench.options") {
    TEST_CASE("sizes and times") {
        CHECK(parse_size("1").value() == 1);
        CHECK(parse_size("64K").value() == 65'536);
        CHECK(parse_size("1M").value() == 1'048'576);
        CHECK(parse_size("3G").value() == 3'221'225'472);
        for (const char* text : {"", "K", "-1", "1k", "1KB", "1.5M", "0x10", " 1", "1 ", "0", "0K",
                                 "99999999999999999999", "18446744073709551615G", "1048577G"})
            CHECK_MESSAGE(!parse_size(text), text);
        CHECK(parse_duration("500ms").value() == 500ms);
        CHECK(parse_duration("10s").value() == 10s);
        CHECK(parse_duration("10").value() == 10s);
        CHECK(parse_duration("2m").value() == 2min);
        CHECK(parse_duration("24h").value() == 24h);
        for (const char* text : {"", "s", "-1s", "1.5s", "1d", "0", "25h", "99999999999999999999s",
                                 "18446744073709551615h"})
            CHECK_MESSAGE(!parse_duration(text), text);
    }

    TEST_CASE("bounded by default") {
        const plan bulk = plan_of({"bulk", "--to", "127.0.0.1:7000"});
        CHECK(bulk.mode == mode::bulk);
        CHECK(bulk.to.text() == "127.0.0.1:7000");
        CHECK(bulk.duration == 10s);
        CHECK(bulk.size == 262'144);
        CHECK(bulk.connections == 1);
        CHECK(bulk.direction == direction::up);
        CHECK(plan_of({"idle", "--to", "[::1]:7000"}).connections == 1'000);
        CHECK(plan_of({"latency", "--to", "unix:/tmp/x"}).reply_size == 1);
    }

    TEST_CASE("values go where they belong") {
        const plan latency =
            plan_of({"latency", "--to=localhost:7000", "--size", "4K", "--rate", "5000",
                     "--connections", "8", "--threads", "2", "--duration", "3s", "--json"});
        CHECK(latency.size == 4'096);
        CHECK(latency.reply_size == 4'096);
        CHECK(latency.rate == 5'000);
        CHECK(latency.connections == 8);
        CHECK(latency.threads == 2);
        CHECK(latency.duration == 3s);
        CHECK(latency.json);
        const plan raw = plan_of({"bulk", "--to", "h:1", "--raw"});
        CHECK(raw.direction == direction::both);
        CHECK(plan_of({"bulk", "--to", "h:1", "--bytes", "1G"}).bytes == 1'073'741'824);
    }

    TEST_CASE("what is measured may be a part of the run, if all of it is one closed loop") {
        const std::vector<std::string> base{"--to", "h:1", "--warm-up", "300ms", "--marks"};
        const auto with = [&](std::vector<std::string> words) {
            words.insert(words.end(), base.begin(), base.end());
            return words;
        };
        for (const char* name : {"bulk", "latency", "churn"}) {
            const plan part = plan_of(with({name}));
            CHECK(part.warm_up == 300ms);
            CHECK(part.marks);
            CHECK(part.in_part());
            CHECK(!plan_of({name, "--to", "h:1"}).in_part());
        }
        CHECK(says(with({"bulk", "--bytes", "1M"}), "--bytes is for whole runs"));
        CHECK(says(with({"latency", "--rate", "10"}), "--rate is for whole runs"));
        CHECK(says(with({"idle"}), "warm-up"));
        CHECK(!plan_of({"idle", "--to", "h:1", "--marks"}).in_part());
    }

    TEST_CASE("serve") {
        const auto served = [](const std::vector<std::string>& words) {
            return std::get<serve_plan>(parse_command_line(words));
        };
        CHECK(served({"serve", "127.0.0.1:0"}).listen.port == 0);
        CHECK(served({"serve", "[::1]:0"}).listen.text() == "[::1]:0");
        CHECK(served({"serve", "7000"}).listen.text() == "127.0.0.1:7000");
        CHECK(served({"serve", "echo", "unix:/tmp/x"}).fixed == kind::echo);
        CHECK(says({"serve"}, "serve where?"));
        CHECK(says({"serve", "ecko", "7000"}, "did you mean 'echo'?"));
        CHECK(says({"serve", "echo", "7000", "x"}, "what is 'x' for?"));
        CHECK(says({"serve", "127.0.0.1"}, "has no port"));
    }

    TEST_CASE("reports") {
        const auto told = std::get<report_plan>(
            parse_command_line({"report", "a.json", "--output", "x.html", "b.json"}));
        CHECK(told.results == std::vector<std::string>{"a.json", "b.json"});
        CHECK(told.output == "x.html");
        CHECK(says({"report", "--output", "x.html"}, "a report of what?"));
        CHECK(says({"report", "a.json"}, "--output FILE.html is needed"));
        CHECK(says({"report", "1", "2", "3", "4", "5", "6", "7", "8", "9", "--output", "x"},
                   "what is '9' for?"));
        const plan run = plan_of({"bulk", "--to", "unix:/tmp/it's here", "--report", "x.html"});
        CHECK(run.report == "x.html");
        CHECK(run.command == "culvert-load bulk --to 'unix:/tmp/it'\\''s here' --report x.html");
    }

    TEST_CASE("mistakes are named, with what would be right") {
        CHECK(says({}, "culvert-load serve"));
        CHECK(says({"bulc"}, "did you mean 'bulk'?"));
        CHECK(says({"bulk"}, "--to HOST:PORT"));
        CHECK(says({"bulk", "--to", "h:1", "--connect", "tcp://h:1"}, "one of --to"));
        CHECK(says({"bulk", "--to", "h:1", "--conections", "3"}, "did you mean 'connections'?"));
        CHECK(says({"bulk", "--to", "h:1", "--rate", "3"}, "unknown option '--rate'"));
        CHECK(says({"bulk", "--to", "h:1", "--conn", "3"}, "unknown option"));
        CHECK(says({"bulk", "--to", "h:1", "x"}, "what is 'x' for?"));
        CHECK(says({"bulk", "--to"}, "--to"));
        CHECK(says({"bulk", "--to", "h"}, "has no port"));
        CHECK(says({"bulk", "--to", "h:1", "--size", "64k"}, "--size: '64k' is not a size"));
        CHECK(says({"bulk", "--to", "h:1", "--size", "2G"}, "--size: more than 1G"));
        CHECK(says({"bulk", "--to", "h:1", "--duration", "1d"}, "--duration: '1d' is not a time"));
        CHECK(says({"bulk", "--to", "h:1", "--connections", "0"}, "out of range"));
        CHECK(says({"bulk", "--to", "h:1", "--connections", "many"}, "not a whole number"));
        CHECK(says({"bulk", "--to", "h:1", "--threads", "2"}, "only 1 connections"));
        CHECK(says({"bulk", "--to", "h:1", "--direction", "sideways"}, "accepted: up, down, both"));
        CHECK(says({"bulk", "--to", "h:1", "--raw", "--direction", "up"}, "--direction both"));
        CHECK(says({"bulk", "--to", "h:1", "--size", "1K", "--size", "2K"}, "--size"));
    }

    TEST_CASE("keys only with a tunnel, and whole") {
        CHECK(says({"bulk", "--to", "h:1", "--psk", "x"}, "--psk needs --connect"));
        CHECK(says({"bulk", "--connect", "tcp://h:1"}, "--connect needs --psk"));
        CHECK(says({"bulk", "--connect", "tcp://h:1", "--identity", "x"}, "need each other"));
        CHECK(says({"bulk", "--connect", "h:1", "--psk", "x"}, "write tcp://"));
        CHECK(says({"bulk", "--connect", "tcp://h:1", "--psk", "/nonexistent"}, "--psk: "));
        CHECK(says({"bulk", "--connect", "tcp://h:1", "--identity", "x", "--server-key", "y",
                    "--realm", "z"},
                   "--realm is for --psk alone"));
    }

    TEST_CASE("help names every option") {
        const auto text = std::get<show_help>(parse_command_line({"latency", "--help"})).text;
        for (const char* name : {"--to", "--connect", "--rate", "--reply-size", "--json"})
            CHECK_MESSAGE(text.find(name) != text.npos, name);
        CHECK(std::get<show_help>(parse_command_line({"--help"})).text.find("idle") != 0);
    }
}
