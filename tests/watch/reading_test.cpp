#include "proxy/watch/reading.hpp"

#include <doctest/doctest.h>

#include "proxy/watch/failure.hpp"
#include "proxy/watch/rates.hpp"
#include "tests/watch/sample.hpp"

using namespace culvert::watch;
using testing::status_text;

TEST_SUITE("watch.reading") {
    TEST_CASE("everything is found") {
        const reading now = read_status(status_text());
        CHECK(now.version == "0.1.0");
        CHECK(now.pid == 42);
        CHECK(now.ready);
        CHECK(now.memory == 3'145'728);
        REQUIRE(now.servers.size() == 1);
        CHECK(now.servers[0].name == "server.edge");
        CHECK(now.servers[0].from_tunnel == 2'048);
        CHECK(now.servers[0].to_tunnel == 1'024);
        REQUIRE(now.servers[0].services.size() == 2);
        CHECK(now.servers[0].services[1].targets == "a:1, b:2");
        CHECK(now.clients.at(0).pool_ready == 3);
        CHECK(now.all.sessions == 5);
        CHECK(now.all.to_tunnel == 1'034);
        CHECK(now.failed_sessions == 12);
        CHECK(now.failed_handshakes == 9);
    }

    TEST_CASE("failures that never came are not told, the most frequent comes first") {
        const reading now = read_status(status_text());
        REQUIRE(now.failures.size() == 2);
        CHECK(now.failures[0].reason == "backend unreachable");
        CHECK(now.failures[1].reason == "wrong key (no session)");
    }

    TEST_CASE("users by their sessions, and no text moves a cursor") {
        const reading now = read_status(status_text());
        REQUIRE(now.users.size() == 2);
        CHECK(now.users[0].name == "laptop\\x1b[31m");
    }

    TEST_CASE("clients of several servers are told apart") {
        const reading now = read_status(
            R"({"schema": 1, "servers": [{}, {}], "users": [{"name": "a", "server": "x"},
                {"name": "a", "server": "y"}]})");
        CHECK(now.users.at(0).name == "a at x");
        CHECK(now.users.at(1).name == "a at y");
    }

    TEST_CASE("what is not there, or is something else, counts as nothing") {
        const reading bare = read_status(R"({"schema": 1})");
        CHECK(bare.servers.empty());
        CHECK(!bare.ready);
        const reading odd = read_status(
            R"({"schema": 1, "pid": "x", "servers": {"a": 1}, "users": [3], "ends": [null],
                "handshake": 7, "threads": -1, "version": []})");
        CHECK(odd.pid == 0);
        CHECK(odd.threads == 0);
        CHECK(odd.users.size() == 1);
    }

    TEST_CASE("what is no status is refused") {
        for (const char* text : {"", "{", "[]", "{}", "7", "<html>", R"({"schema": 2})"})
            CHECK_THROWS_AS(read_status(text), no_answer);
    }

    TEST_CASE("rates are differences by the daemon's own clock") {
        const reading before = read_status(status_text(0, 100));
        const reading now = read_status(status_text(50, 102));
        const rates since(before, now);
        CHECK(since.of(before.all.sessions_total, now.all.sessions_total) == 25);
        CHECK(since.of(&before.servers[0], now.servers[0]).to_tunnel == 25);
        CHECK(!since.of(5, 4));
        CHECK(!since.of(nullptr, now.servers[0]).to_tunnel);
    }

    TEST_CASE("a daemon that began anew has no rates") {
        const reading before = read_status(status_text(50, 100));
        for (const reading& now :
             {read_status(status_text(60, 5)), read_status(status_text(60, 102, 43))}) {
            const rates since(before, now);
            CHECK(since.before() == nullptr);
            CHECK(!since.of(1, 2));
        }
    }

    TEST_CASE("quantiles lie within the bucket of the new handshakes") {
        const reading before = read_status(status_text(0));
        const reading now = read_status(status_text(50));
        CHECK(!quantile(now.handshakes, now.handshakes, 0.5));
        CHECK(quantile({}, before.handshakes, 0.5).value() == doctest::Approx(0.0015));
        CHECK(quantile(before.handshakes, now.handshakes, 1).value() == doctest::Approx(0.002));
        histogram_reading slow = now.handshakes;
        slow.count += 1'000;  // longer than the last bucket
        CHECK(quantile(now.handshakes, slow, 0.5) == 0.004);
    }
}
