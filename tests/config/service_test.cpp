// Values of several words: services with their targets, the servers of a client.
#include "config/service.hpp"

#include <doctest/doctest.h>

#include "config/uplinks.hpp"
#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;
using namespace std::chrono_literals;

namespace {

service read(std::string_view text) {
    return parse_service(text, "/folder");
}

}  // namespace

TEST_SUITE("config.service") {
    TEST_CASE("a name and a target") {
        const service plain = read("redis 127.0.0.1:6379");
        CHECK(plain.name == "redis");
        REQUIRE(plain.targets.size() == 1);
        CHECK(plain.targets.front().text() == "127.0.0.1:6379");
        CHECK(plain.balance == balance::round_robin);
        CHECK_FALSE(plain.idle.has_value());
        CHECK_FALSE(plain.connections.has_value());
        CHECK_FALSE(plain.check.has_value());
        CHECK(plain.send_proxy == proxy_header::none);
    }

    TEST_CASE("several targets, and every option") {
        const service full = read(
            "db h:1 [::1]:2\tunix:a=b.sock balance=first check=5s idle-timeout=5m "
            "max-connections=100  send-proxy=v2");
        REQUIRE(full.targets.size() == 3);
        CHECK(full.targets[0].text() == "h:1");
        CHECK(full.targets[1].text() == "[::1]:2");
        CHECK(full.targets[2].text() == "unix:/folder/a=b.sock");
        CHECK(full.balance == balance::first);
        CHECK(full.check == 5s);
        REQUIRE(full.idle.has_value());
        CHECK(*full.idle == 300s);
        CHECK(full.connections == 100);
        CHECK(full.send_proxy == proxy_header::v2);
        CHECK(read("db h:1 h:2 balance=least-connections").balance == balance::least_connections);
        CHECK(read("db h:1 send-proxy=v1").send_proxy == proxy_header::v1);
        // Options may stand between the targets, and say that there is none.
        const service off = read("db check=off h:1 idle-timeout=off send-proxy=off h:2");
        CHECK(off.targets.size() == 2);
        CHECK_FALSE(off.check.has_value());
        REQUIRE(off.idle.has_value());
        CHECK_FALSE(off.idle->has_value());
    }

    TEST_CASE("written down again it is the same") {
        for (const std::string text :
             {"redis 127.0.0.1:6379",
              "db h:1 [::1]:2 unix:/a balance=least-connections check=5s idle-timeout=5m "
              "max-connections=100 send-proxy=v2",
              "x h:1 idle-timeout=off send-proxy=v1"})
            CHECK(to_text(read(text)) == text);
        CHECK(to_text(read("x h:1 h:2")) == "x h:1 h:2 balance=round-robin");
    }

    TEST_CASE("mistakes") {
        CHECK(server_says("service = y check=5s") ==
              "service: write service = NAME TARGET ..., each target a HOST:PORT or unix:PATH");
        CHECK(server_says("service = check=5s h:1") ==
              "service: write service = NAME TARGET ..., each target a HOST:PORT or unix:PATH");
        CHECK(server_says("service = y h:1 h:1") == "service: the target h:1 stands here twice");
        CHECK(server_says("service = y h:1 chekc=5s") ==
              "service: unknown option 'chekc', did you mean 'check'? (accepted: balance, check, "
              "idle-timeout, max-connections, send-proxy)");
        CHECK(server_says("service = y h:1 check=5s check=6s") ==
              "service: the option check stands here twice");
        CHECK(server_says("service = y h:1 check=100ms") ==
              "service: check: '100ms' is not a time: write 10, 10s, 2m or 1h, or off");
        CHECK(server_says("service = y h:1 check=2h") ==
              "service: check: '2h' is out of range: 1s to 1h is accepted");
        CHECK(server_says("service = y h:1 idle-timeout=") ==
              "service: idle-timeout: '' is not a time: write 10, 10s, 2m or 1h, or off");
        CHECK(server_says("service = y h:1 max-connections=0") ==
              "service: max-connections: '0' is out of range: 1 to 1000000 is accepted");
        CHECK(server_says("service = y h:1 send-proxy=v3") ==
              "service: send-proxy: unknown value 'v3', did you mean 'v1'? (accepted: off, v1, "
              "v2)");
        CHECK(server_says("service = y h:1 h:2 balance=random") ==
              "service: balance: unknown value 'random' (accepted: round-robin, "
              "least-connections, first)");
        CHECK(server_says("service = y h:1 balance=first") ==
              "service: balance is for several targets, and there is one");
        std::string many = "service = y";
        for (int port = 1; port <= 65; ++port) many += " h:" + std::to_string(port);
        CHECK(server_says(many) == "service: there are more than 64 targets");
    }
}

TEST_SUITE("config.uplinks") {
    TEST_CASE("servers of several lines and words") {
        const folder in;
        write_keys(in);
        const auto loaded = parse_in(in,
                                     "[client.c]\nlisten = 1\npsk = a.psk\n"
                                     "connect = tcp://a:1 ws://b:2/p weight=3\n"
                                     "connect = tcp://c:3 backup\n");
        REQUIRE(loaded.ok());
        const auto& servers = loaded.value.clients.front().connect;
        REQUIRE(servers.size() == 3);
        CHECK(line_of(servers[0]) == "tcp://a:1 weight=3");
        CHECK(line_of(servers[1]) == "ws://b:2/p weight=3");
        CHECK(line_of(servers[2]) == "tcp://c:3 backup");
        CHECK(servers[1].weight == 3);
        CHECK_FALSE(servers[1].backup);
        CHECK(servers[2].weight == 1);
        CHECK(servers[2].backup);
    }

    TEST_CASE("mistakes") {
        // Behind the first, which is tcp://h:7700 or the like.
        CHECK(client_says("connect = tcp://b:1 wieght=2") ==
              "connect: unknown option 'wieght', did you mean 'weight'? (accepted: weight, "
              "backup)");
        CHECK(client_says("connect = tcp://b:1 weight=257") ==
              "connect: weight: '257' is out of range: 1 to 256 is accepted");
        CHECK(client_says("connect = tcp://b:1 weight") ==
              "connect: the option weight needs a value: weight=...");
        CHECK(client_says("connect = tcp://b:1 backup=yes") ==
              "connect: the option backup takes no value");
        CHECK(client_says("connect = tcp://b:1 tcp://b:1") ==
              "connect: tcp://b:1 stands here twice");
        CHECK(client_says("connect = backup") ==
              "connect: 'backup': write tcp://host:port or ws://host:port/path");
        CHECK(client_says("connect = tcp://b:1 backup") == "");
        const folder in;
        write_keys(in);
        CHECK(texts_of(parse_in(in,
                                "[client.c]\nlisten = 1\npsk = a.psk\n"
                                "connect = tcp://a:1 tcp://b:1 backup\n")) ==
              std::vector<std::string>{"t.conf:4: every connect of the section is a backup: one "
                                       "must not be"});
    }
}
