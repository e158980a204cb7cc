// The files that are shown to readers: they load, and they show every key.
#include <doctest/doctest.h>

#include "config/help.hpp"
#include "config/tables.hpp"
#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;
using strings = std::vector<std::string>;

namespace {

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
    return text;
}

void write_sample_keys(const folder& in) {
    in.write("edge.psk", key_hex);
    in.write("server.key", std::string(64, 'b'));
    in.write("client.key", std::string(64, 'c'));
    in.write("clients.pub", "alice " + std::string(key_base64) + "\n", 0644);
    in.write("team.psk", "reports " + std::string(key_base64) + " services=redis\n");
}

// The sample with its keys in that folder.
std::string sample_in(const folder& in) {
    write_sample_keys(in);
    std::string text = content_of(CULVERT_SAMPLES "/culvert.conf");
    text = replace_all(text, "user = culvert", "user = daemon");  // one that every system has
    text = replace_all(text, "group = culvert", "group = daemon");
    return replace_all(text, "/etc/culvert/", in.path().native() + "/");
}

// Every `#key = default` as if it were given.
std::string with_defaults_given(std::string text) {
    for (std::size_t at = 0; (at = text.find("\n#", at)) != text.npos; ++at) {
        const char next = text[at + 2];
        if (next != ' ' && next != '\n') text.erase(at + 1, 1);
    }
    return text;
}

strings errors_of(const loaded& read) {
    strings errors;
    for (const auto& said : read.diagnostics) {
        if (said.severity == severity::error) errors.push_back(to_text(said));
    }
    return errors;
}

}  // namespace

TEST_SUITE("config.sample") {
    TEST_CASE("the sample loads as it stands") {
        const folder in;
        const loaded read = parse_in(in, sample_in(in));
        CHECK(errors_of(read) == strings{});
        CHECK(read.value.servers.size() == 3);
        CHECK(read.value.clients.size() == 2);
        CHECK(read.value.servers[0].services.size() == 2);
        CHECK(read.value.servers[1].clients.front().name == "alice");
    }

    TEST_CASE("the sample loads with all that it shows in comments") {
        const folder in;
        const std::string text = with_defaults_given(sample_in(in));
        REQUIRE(text.find("\nmax-waiting = 64") != text.npos);
        const loaded read = parse_in(in, text);
        CHECK(errors_of(read) == strings{});
        CHECK(read.value.servers[0].keys.realm == "production");
        CHECK(read.value.servers[0].proxies.size() == 2);
        CHECK(read.value.servers[1].keys.psk.has_value());
    }

    TEST_CASE("the sample shows every key, and its default") {
        const std::string text = content_of(CULVERT_SAMPLES "/culvert.conf");
        for (const auto kind : {section_kind::daemon, section_kind::server, section_kind::client}) {
            const known_keys keys(kind);
            for (const auto& option : keys.table().options()) {
                const std::string shown = option->long_name() + " = " + default_of(*option);
                CAPTURE(shown);
                const bool is_shown =
                    text.find("\n" + shown) != text.npos || text.find("\n#" + shown) != text.npos;
                CHECK(is_shown);
            }
        }
    }

    TEST_CASE("the help shows every key, its default and what it is") {
        const std::string help = help_text();
        for (const auto kind : {section_kind::daemon, section_kind::server, section_kind::client}) {
            const known_keys keys(kind);
            CHECK(keys.table().options().size() >= 3);
            for (const auto& option : keys.table().options()) {
                CAPTURE(option->long_name());
                CHECK(!option->description().empty());
                CHECK(help.find("\n  " + option->long_name() + " = ") != help.npos);
            }
        }
        CHECK(help.find("keepalive = TIME, 5s-5m (=25s)\n") != help.npos);
    }

    TEST_CASE("a file with a server and a client side by side") {
        const folder in;
        write_sample_keys(in);
        const loaded read = parse_in(in, R"([daemon]
threads = 2
log-level = info
[server.edge]                                   # accepts tunnels
listen  = 0.0.0.0:7700                          # host:port, [v6]:port
carrier = tcp                                   # or ws, then path = /tunnel
psk = edge.psk
# or: identity = server.key   and   clients = clients.pub   (name + public key a line)
service = redis 127.0.0.1:6379                  # repeatable; the first is the default
service = web unix:/run/web.sock
[client.redis]                                  # accepts plaintext
listen  = 127.0.0.1:6380                        # or unix:/path
connect = tcp://edge.example:7700               # or ws://host:port/path
service = redis
psk = edge.psk                     # or identity = ..., server-key = <public key>
)");
        CHECK(errors_of(read) == strings{});
        CHECK(read.value.daemon.threads == 2);
        CHECK(read.value.servers.front().listen.text() == "0.0.0.0:7700");
        CHECK(read.value.servers.front().services[1].targets.front().text() ==
              "unix:/run/web.sock");
        CHECK(read.value.clients.front().connect.front().place.text() == "edge.example:7700");
        CHECK(read.value.clients.front().service == "redis");
        CHECK(read.value.clients.front().keys.psk == read.value.servers.front().keys.psk);
    }
}
