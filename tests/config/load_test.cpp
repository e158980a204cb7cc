// What a good file means: every key, defaults, comments, forms of the file itself.
#include "config/load.hpp"

#include <doctest/doctest.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/tables.hpp"
#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;
using namespace std::chrono_literals;
using strings = std::vector<std::string>;

namespace {

constexpr std::string_view minimal =
    "[client.c]\nlisten = 6380\nconnect = tcp://h:7700\npsk = a.psk\n";

loaded parse_good(const folder& in, std::string_view text) {
    loaded read = parse_in(in, text);
    CHECK(texts_of(read) == strings{});
    REQUIRE(read.ok());
    return read;
}

}  // namespace

TEST_SUITE("config.load") {
    TEST_CASE("every key of the daemon is kept") {
        const folder in;
        write_keys(in);
        const auto read = parse_good(
            in,
            "[daemon]\nthreads = 7\nlog-level = debug\ndrain = 2m\nuser = daemon\ngroup = sys\n"
            "log-format = json\nadmin = 0.0.0.0:7780\nadmin-open = yes\n"
            "sandbox = off\n" +
                std::string(minimal));
        CHECK(read.value.daemon.threads == 7);
        CHECK(read.value.daemon.level == log_level::debug);
        CHECK(read.value.daemon.drain == 120s);
        CHECK(read.value.daemon.log_format == log_format::json);
        CHECK(read.value.daemon.admin == endpoint{"0.0.0.0", 7780, {}});
        CHECK(read.value.daemon.admin_open);
        REQUIRE(read.value.daemon.user.has_value());
        CHECK(read.value.daemon.user->name == "daemon");
        CHECK(read.value.daemon.user->user == ::getpwnam("daemon")->pw_uid);
        CHECK(read.value.daemon.user->group == ::getpwnam("daemon")->pw_gid);
        CHECK(read.value.daemon.group == ::getgrnam("sys")->gr_gid);
        CHECK_FALSE(read.value.daemon.sandbox);
    }

    TEST_CASE("every key of a server is kept") {
        const folder in;
        write_keys(in);
        const auto read = parse_good(in, R"([server.edge]
listen = [::1]:7700
carrier = ws
path = /tunnel
psk = a.psk
identity = b.key
clients = clients.pub
service = redis 127.0.0.1:6379
service = web [::1]:80
handshake-timeout = 1
connect-timeout = 2
keepalive = 5
dead-peer = 10
idle-timeout = 3m
max-age = 1h
max-connections = 11
clock-skew = off
max-unproven = 12
max-unproven-per-address = 13
proxy-address = 10.0.0.7, 192.0.2.0/24
proxy-address = 2001:db8::/32
proxy-protocol = required
max-waiting = 14
)");
        REQUIRE(read.value.servers.size() == 1);
        CHECK(read.value.clients.empty());
        const server_settings& server = read.value.servers.front();
        CHECK(server.name == "edge");
        CHECK(server.listen.text() == "[::1]:7700");
        CHECK(server.carrier == carrier::websocket);
        CHECK(server.path == "/tunnel");
        REQUIRE(server.keys.psk.has_value());
        CHECK(server.keys.psk->view()[31] == 32);
        REQUIRE(server.keys.identity.has_value());
        CHECK(server.keys.identity->view()[0] == 0xbb);
        REQUIRE(server.clients.size() == 1);
        CHECK(server.clients.front().name == "alice");
        REQUIRE(server.services.size() == 2);
        CHECK(server.services[0].name == "redis");
        CHECK(server.services[0].targets.front().text() == "127.0.0.1:6379");
        CHECK(server.services[1].targets.front().text() == "[::1]:80");
        CHECK(server.limits.handshake == 1s);
        CHECK(server.limits.connect == 2s);
        CHECK(server.limits.keepalive == 5s);
        CHECK(server.limits.dead_peer == 10s);
        CHECK(server.limits.idle == 180s);
        CHECK(server.limits.age == 3600s);
        CHECK(server.limits.connections == 11);
        CHECK(server.clock_skew == std::nullopt);
        CHECK(server.unproven == 12);
        CHECK(server.unproven_per_address == 13);
        REQUIRE(server.proxies.size() == 3);
        CHECK(server.proxies[1] == parse_address_range("192.0.2.0/24").value());
        CHECK(server.proxies[2] == parse_address_range("2001:db8::/32").value());
        CHECK(server.proxy_protocol == proxy_protocol::required);
        CHECK(server.waiting == 14);
    }

    TEST_CASE("a list of psks is kept, with the names and rights of their holders") {
        const folder in;
        write_keys(in);
        in.write("team.psk", "alice " + std::string(key_hex) + "\nbob " + std::string(64, 'b') +
                                 " services=web rate=1M\n");
        const auto read = parse_good(in,
                                     "[server.edge]\nlisten = 7700\npsks = team.psk\n"
                                     "service = web h:1\n");
        const server_settings& server = read.value.servers.front();
        CHECK(!server.keys.psk.has_value());
        REQUIRE(server.keys.psks.size() == 2);
        CHECK(server.keys.psks[0].view()[31] == 32);
        CHECK(server.keys.psks[1].view()[0] == 0xbb);
        REQUIRE(server.clients.size() == 2);
        CHECK(server.clients[0].name == "alice");
        CHECK(server.clients[1].rights.services == std::vector<std::string>{"web"});
        CHECK(server.clients[1].rights.rate == 1'048'576);
        CHECK(server.clients_file == (in / "team.psk").native());
    }

    TEST_CASE("every key of a client is kept") {
        const folder in;
        write_keys(in);
        const auto read = parse_good(in,
                                     "[daemon]\n[client.one]\nlisten = 127.0.0.1:6380\n"
                                     "connect = ws://[2001:db8::1]:80/t\nservice = redis\n"
                                     "identity = b.key\nserver-key = " +
                                         std::string(key_base64) +
                                         "\nidle-timeout = 9\nmax-connections = 3\npool = 1024\n"
                                         "[client.two]\nlisten = 6381\n"
                                         "connect = tcp://h:1\npsk = a.psk\nrealm = a b#c\n");
        REQUIRE(read.value.clients.size() == 2);
        const client_settings& one = read.value.clients[0];
        CHECK(one.name == "one");
        CHECK(one.listen.text() == "127.0.0.1:6380");
        CHECK(one.connect.front().place.text() == "[2001:db8::1]:80");
        CHECK(one.connect.front().carrier == carrier::websocket);
        CHECK(one.connect.front().path == "/t");
        CHECK(one.service == "redis");
        CHECK(!one.keys.psk.has_value());
        CHECK(one.keys.identity.has_value());
        CHECK(one.server_key[0] == 1);
        CHECK(one.limits.idle == 9s);
        CHECK(one.limits.connections == 3);
        CHECK(one.pool == 1024);
        const client_settings& two = read.value.clients[1];
        CHECK(two.connect.front().carrier == carrier::tcp);
        CHECK(two.service.empty());
        CHECK(two.pool == 0);
        CHECK(two.keys.realm == "a b#c");
    }

    TEST_CASE("the defaults are those of the protocol") {
        const auto read = parse_with("", "");
        REQUIRE(read.ok());
        const daemon_settings& daemon = read.value.daemon;
        CHECK(daemon.threads == 1);
        CHECK(daemon.level == log_level::info);
        CHECK(daemon.drain == 30s);
        CHECK(daemon.log_format == log_format::text);
        CHECK_FALSE(daemon.admin.has_value());
        const server_settings& server = read.value.servers.front();
        CHECK(server.carrier == carrier::tcp);
        CHECK(server.path == "/");
        CHECK(server.keys.realm.empty());
        CHECK(server.clock_skew == 120s);
        CHECK(server.unproven == 1024);
        CHECK(server.unproven_per_address == 64);
        CHECK(server.proxies.empty());
        CHECK(server.waiting == 64);
        for (const session_limits& limits : {server.limits, read.value.clients.front().limits}) {
            CHECK(limits.handshake == 10s);
            CHECK(limits.connect == 10s);
            CHECK(limits.keepalive == 25s);
            CHECK(limits.dead_peer == 90s);
            CHECK(limits.idle == std::nullopt);
            CHECK(limits.age == std::nullopt);
            CHECK(limits.connections == 8192);
        }
    }

    TEST_CASE("the tables and the structs agree about defaults") {
        const server_settings fresh;
        const auto read = parse_with("", "");
        const server_settings& server = read.value.servers.front();
        CHECK(server.clock_skew == fresh.clock_skew);
        CHECK(server.unproven == fresh.unproven);
        CHECK(server.unproven_per_address == fresh.unproven_per_address);
        CHECK(server.proxy_protocol == fresh.proxy_protocol);
        CHECK(server.waiting == fresh.waiting);
        CHECK(server.path == fresh.path);
        CHECK(server.limits.handshake == fresh.limits.handshake);
        CHECK(server.limits.connect == fresh.limits.connect);
        CHECK(server.limits.keepalive == fresh.limits.keepalive);
        CHECK(server.limits.dead_peer == fresh.limits.dead_peer);
        CHECK(server.limits.connections == fresh.limits.connections);
        CHECK(read.value.daemon.drain == daemon_settings().drain);
        CHECK(read.value.daemon.threads == daemon_settings().threads);
    }

    TEST_CASE("a # within a word belongs to it") {
        const folder in;
        write_keys(in);
        const auto read =
            parse_good(in, std::string(minimal) + "realm = pa#ss # and this is a comment\n");
        CHECK(read.value.clients.front().keys.realm == "pa#ss");
    }

    TEST_CASE("a value may hold '='") {
        const folder in;
        write_keys(in);
        CHECK(parse_good(in, std::string(minimal) + "realm = a=b\n")
                  .value.clients.front()
                  .keys.realm == "a=b");
        CHECK(parse_good(in, std::string(minimal) + "realm=x\n").value.clients.front().keys.realm ==
              "x");
    }

    TEST_CASE("realm and service may be empty") {
        const folder in;
        write_keys(in);
        const auto read = parse_good(in, std::string(minimal) + "realm =\nservice =\n");
        CHECK(read.value.clients.front().keys.realm.empty());
        CHECK(read.value.clients.front().service.empty());
    }

    TEST_CASE("CRLF, a byte order mark and a last line without its end are fine") {
        const folder in;
        write_keys(in);
        std::string text = "\xef\xbb\xbf" + std::string(minimal.substr(0, minimal.size() - 1));
        for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) {
            text.insert(at, 1, '\r');
        }
        CHECK(parse_good(in, text).value.clients.front().connect.front().place.text() == "h:7700");
    }

    TEST_CASE("relative paths count from the folder of the file") {
        const folder in;
        write_keys(in);
        in.write("t.conf",
                 std::string(minimal) + "\n[server.s]\nlisten = 7700\npsk = " +
                     (in / "a.psk").native() + "\nservice = web unix:web.sock\n",
                 0644);
        const loaded read = load(in / "t.conf");
        REQUIRE(read.ok());
        CHECK(read.value.servers.front().services.front().targets.front().unix_path ==
              (in / "web.sock").native());
        const auto before = std::filesystem::current_path();
        std::filesystem::current_path(in.path());
        const loaded relative = load("t.conf");
        std::filesystem::current_path(before);
        CHECK(relative.ok());
    }

    TEST_CASE("a file that cannot be read says why") {
        const folder in;
        const auto why = [](const std::filesystem::path& file) {
            const loaded read = load(file);
            REQUIRE(!read.ok());
            return texts_of(read);
        };
        CHECK(why(in / "none") == strings{(in / "none").native() + ": No such file or directory"});
        CHECK(why(in.path()) == strings{in.path().native() + ": is a directory, not a file"});
        REQUIRE(mkfifo((in / "fifo").c_str(), 0600) == 0);
        CHECK(why(in / "fifo") == strings{(in / "fifo").native() + ": is not a regular file"});
        CHECK(!load("").ok());
        CHECK(!load(std::string("a\0b", 3)).ok());
        if (geteuid() != 0) {
            CHECK(why(in.write("secret", "", 0)) ==
                  strings{(in / "secret").native() + ": Permission denied"});
        }
    }

    TEST_CASE("an empty file has nothing to run") {
        const folder in;
        const strings nothing{
            "t.conf:1: nothing to run: add a section [server.NAME] or [client.NAME]"};
        CHECK(texts_of(parse_in(in, "")) == nothing);
        CHECK(texts_of(parse_in(in, "# only this\n")) == nothing);
        CHECK(texts_of(parse_in(in, "[daemon]\nthreads = 2\n")) == nothing);
    }
}
