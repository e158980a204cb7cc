// What keys of one section, or sections of one file, may not be beside each other.
#include "config/check.hpp"

#include <doctest/doctest.h>

#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;
using strings = std::vector<std::string>;

namespace {

strings says(std::string_view text) {
    const folder in;
    write_keys(in);
    return texts_of(parse_in(in, text));
}

const std::string server = "[server.s]\nlisten = 7700\nservice = x h:1\n";
const std::string client = "[client.c]\nlisten = 6380\nconnect = tcp://h:1\n";

bool clash(std::string_view a, std::string_view b) {
    report found("t");
    check_listens({{parse_listen_or_unix(a, "/x").value(), 1, "[a]"},
                   {parse_listen_or_unix(b, "/x").value(), 2, "[b]"}},
                  found);
    return !std::move(found).take().empty();
}

}  // namespace

TEST_SUITE("config.check") {
    TEST_CASE("nothing starts without a key") {
        CHECK(says(server) ==
              strings{"t.conf:1: no key: [server.s] needs psk = FILE or identity = FILE"});
        CHECK(says(client) ==
              strings{"t.conf:1: no key: [client.c] needs psk = FILE or identity = FILE"});
    }

    TEST_CASE("admin is for this host, or says otherwise") {
        const auto daemon = [](std::string_view lines) {
            return says("[daemon]\n" + std::string(lines) + client + "psk = a.psk\n");
        };
        for (const char* place : {"7780", "127.0.0.1:7780", "127.8.9.1:7780", "[::1]:7780",
                                  "localhost:7780", "unix:a.sock"})
            CHECK(daemon("admin = " + std::string(place) + "\n").empty());
        for (const char* place : {"0.0.0.0:7780", "[::]:7780", "192.0.2.7:7780",
                                  "[2001:db8::1]:7780", "me.example:1"}) {
            const std::string line = "admin = " + std::string(place) + "\n";
            CHECK(daemon(line) == strings{"t.conf:2: admin: " + std::string(place) +
                                          " may be reached from other hosts: write 127.0.0.1, "
                                          "[::1] or unix:PATH, or admin-open = yes beside it"});
            CHECK(daemon(line + "admin-open = yes\n").empty());
            CHECK(daemon(line + "admin-open = no\n").size() == 1);
            CHECK(daemon(line + "admin-open = maybe\n").size() == 1);
        }
        CHECK(daemon("admin-open = yes\n") ==
              strings{"t.conf:2: admin-open needs admin = PLACE beside it"});
        CHECK(daemon("admin = 6380\n") ==
              strings{"t.conf:4: listen: 127.0.0.1:6380 clashes with 127.0.0.1:6380 of [daemon] on "
                      "line 2"});
        CHECK(
            says(client + "psk = a.psk\n[daemon]\nadmin = 6380\n") ==
            strings{"t.conf:6: admin: 127.0.0.1:6380 clashes with 127.0.0.1:6380 of [client.c] on "
                    "line 2"});
    }

    TEST_CASE("a key that is refused is not also missing") {
        CHECK(says(server + "psk = none\n").size() == 1);
        CHECK(says(server + "pks = a.psk\n") ==
              strings{"t.conf:4: unknown key 'pks', did you mean 'psk'?"});
    }

    TEST_CASE("a fallback leads elsewhere") {
        const std::string keyed = server + "psk = a.psk\n";
        CHECK(says(keyed + "fallback = 127.0.0.1:7701\n").empty());
        CHECK(says(keyed + "fallback = unix:site.sock\n").empty());
        CHECK(says(keyed + "fallback = localhost:7700\n") ==
              strings{"t.conf:5: fallback: localhost:7700 leads back to this section"});
        CHECK(says(keyed + "fallback = 8080\n") ==
              strings{"t.conf:5: fallback: '8080' has no port: write host:port"});
    }

    TEST_CASE("mode and owner are for unix sockets") {
        const std::string end = "connect = tcp://h:1\npsk = a.psk\n";
        const auto of = [&](const std::string& listen, const std::string& line) {
            return says("[client.c]\nlisten = " + listen + "\n" + line + "\n" + end);
        };
        CHECK(of("6380", "listen-mode = 0660") ==
              strings{"t.conf:3: listen-mode needs listen = unix:PATH: ports have no owner"});
        CHECK(of("6380", "listen-owner = root") ==
              strings{"t.conf:3: listen-owner needs listen = unix:PATH: ports have no owner"});
        CHECK(of("unix:s", "listen-mode = 0660").size() == 1);  // the note about resets
        CHECK(of("unix:s", "listen-owner = root:root").size() == 1);
        CHECK(of("unix:s", "listen-owner = nobody-of-that-name").back() ==
              "t.conf:3: listen-owner: this system has no user 'nobody-of-that-name'");
        CHECK(of("unix:s", "listen-owner = root:no-such-group").back() ==
              "t.conf:3: listen-owner: this system has no group 'no-such-group'");
        CHECK(of("unix:s", "listen-owner = root:").back() ==
              "t.conf:3: listen-owner: this system has no group ''");
    }

    TEST_CASE("they hold wherever they stand") {
        const folder in;
        write_keys(in);
        for (const char* text :
             {"[client.c]\nlisten-mode = 0620\nlisten-owner = :root\nlisten = unix:s\n",
              "[client.c]\nlisten = unix:s\nlisten-owner = :root\nlisten-mode = 0620\n"}) {
            const auto read =
                parse_in(in, std::string(text) + "connect = tcp://h:1\npsk = a.psk\n");
            REQUIRE(read.ok());
            const endpoint& listen = read.value.clients.front().listen;
            CHECK(listen.access.mode == 0620U);
            CHECK(listen.access.group == 0U);
            CHECK(!listen.access.user);
        }
    }

    TEST_CASE("static mode names both ends") {
        const std::string key(key_hex);
        CHECK(says(server + "identity = b.key\n") ==
              strings{"t.conf:4: identity needs clients beside it, to know the other end"});
        CHECK(says(client + "identity = b.key\n") ==
              strings{"t.conf:4: identity needs server-key beside it, to know the other end"});
        CHECK(says(server + "psk = a.psk\nclients = clients.pub\n") ==
              strings{"t.conf:5: clients needs identity = FILE beside it"});
        CHECK(says(client + "psk = a.psk\nserver-key = " + key + "\n") ==
              strings{"t.conf:5: server-key needs identity = FILE beside it"});
        CHECK(says(client + "identity = b.key\nserver-key = " + key + "\nrealm = r\n") ==
              strings{"t.conf:6: realm is for psk alone: with identity, the keys tell servers "
                      "apart"});
        CHECK(says(client + "identity = b.key\npsk = a.psk\nserver-key = " + key + "\n").empty());
        CHECK(says(client + "identity = b.key\nserver-key = " + std::string(64, '0') + "\n") ==
              strings{"t.conf:5: server-key: is all zero: no key"});
    }

    TEST_CASE("a list of psks stands alone") {
        CHECK(says(server + "psks = clients.psk\n").empty());
        CHECK(says(server + "psks = clients.psk\nrealm = r\n").empty());
        CHECK(says(server + "psk = a.psk\npsks = clients.psk\n") ==
              strings{"t.conf:5: psks stands in the place of psk: add that one to the list, with a "
                      "name"});
        CHECK(says(server + "identity = b.key\nclients = clients.pub\npsks = clients.psk\n") ==
              strings{"t.conf:6: psks is not for identity: its clients are named by their keys, in "
                      "clients"});
        CHECK(says(client + "psks = clients.psk\n").back() ==
              "t.conf:4: 'psks' is no key of [client.c], it belongs to [server.NAME]");
    }

    TEST_CASE("a client may use only services that there are") {
        const folder in;
        write_keys(in);
        const std::string key(64, 'c');
        const auto list = in.write("c.pub",
                                   "a " + std::string(64, 'a') + " services=redis,web\n# b\nc " +
                                       key + " services=wep,redis,x/y\nd " + std::string(64, 'd') +
                                       " services=wep,mail\n",
                                   0644);
        const std::string text = "[server.s]\nlisten = 7700\nidentity = b.key\nclients = c.pub\n";
        CHECK(texts_of(parse_in(in, text + "service = redis h:1\nservice = web h:2\n")) ==
              strings{list.native() +
                          ":3: services: 'x/y' is not a name: letters, digits, '.', '_' and '-' "
                          "only",
                      list.native() + ":4: services: [server.s] has no service 'wep', did you mean "
                                      "'web'?",
                      list.native() + ":4: services: [server.s] has no service 'mail'"});
        // What is wrong with the services themselves is told once.
        CHECK(texts_of(parse_in(in, text + "service = redis h:x\nservice = web h:2\n")).size() ==
              2);
    }

    TEST_CASE("required keys") {
        CHECK(says("[server.s]\npsk = a.psk\n") ==
              strings{"t.conf:1: [server.s] lacks listen = [HOST:]PORT",
                      "t.conf:1: [server.s] lacks service = NAME TARGET ... [OPTION=VALUE ...]"});
        CHECK(says("[client.c]\npsk = a.psk\n") ==
              strings{"t.conf:1: [client.c] lacks listen = [HOST:]PORT or unix:PATH",
                      "t.conf:1: [client.c] lacks connect = tcp://HOST:PORT or "
                      "ws://HOST:PORT/PATH ... [weight=N] [backup]"});
    }

    TEST_CASE("services") {
        CHECK(server_says("service = y") ==
              "service: write service = NAME TARGET ..., each target a HOST:PORT or unix:PATH");
        CHECK(server_says("service = y h:1 z") == "service: 'z' has no port: write host:port");
        CHECK(server_says("service = x h:1") ==
              "service: the name 'x' is taken by a service above");
        CHECK(server_says("service = a:b h:1") ==
              "service: 'a:b' is not a name: letters, digits, '.', '_' and '-' only");
        CHECK(server_says("service = y\th:1") == "");
        CHECK(client_says("service = x h:1") ==
              "service: 'x h:1' is not a name: letters, digits, '.', '_' and '-' only");
    }

    TEST_CASE("path and carrier") {
        CHECK(server_says("path = /x") == "path needs carrier = ws: plain TCP has no paths");
        CHECK(server_says("path = /x\ncarrier = ws") == "");
        CHECK(server_says("path = x\ncarrier = ws") == "path: 'x' does not begin with '/'");
        CHECK(server_says("path = /x\ncarrier = websocket") ==
              "carrier: unknown value 'websocket' (accepted: tcp, ws)");
        CHECK(says("[server.s]\nlisten = unix:/x\nservice = x h:1\npsk = a.psk\n") ==
              strings{"t.conf:2: listen: tunnels come in on host:port or [v6]:port"});
    }

    TEST_CASE("a unix socket is noted for what it cannot do, and is no error") {
        const std::string note =
            "note: a unix socket cannot carry a reset: the application behind it may take a cut "
            "connection for one that ended in good order";
        const folder in;
        write_keys(in);
        const auto read =
            parse_in(in, server +
                             "psk = a.psk\nservice = web unix:/run/web.sock\n[client.c]\n"
                             "listen = unix:c.sock\nconnect = tcp://h:1\npsk = a.psk\n");
        CHECK(texts_of(read) == strings{"t.conf:5: " + note, "t.conf:7: " + note});
        CHECK(read.ok());
    }

    TEST_CASE("dead-peer should be longer than keepalive") {
        CHECK(server_says("keepalive = 120") ==
              "dead-peer (90s) is not longer than keepalive (2m): with these values at both ends "
              "a quiet connection is cut");
        CHECK(client_says("dead-peer = 26") == "");
        CHECK(parse_with("dead-peer = 25", "").ok());
    }

    TEST_CASE("addresses that clash") {
        CHECK(clash("127.0.0.1:1", "127.0.0.1:1"));
        CHECK(clash("127.0.0.1:1", "0.0.0.0:1"));
        CHECK(clash("0.0.0.0:1", "10.0.0.1:1"));
        CHECK(clash("[::]:1", "[::1]:1"));
        CHECK(clash("[::1]:1", "[0:0::1]:1"));
        CHECK(clash("1", "127.0.0.1:1"));
        CHECK(clash("Edge.example:1", "edge.example:1"));
        CHECK(clash("localhost:1", "127.0.0.1:1"));
        CHECK(clash("unix:a", "unix:/x/a"));
        CHECK(clash("unix:/x/./a", "unix:/x/b/../a"));
    }

    TEST_CASE("addresses that go together") {
        CHECK(!clash("0.0.0.0:1", "[::]:1"));
        CHECK(!clash("0.0.0.0:1", "[::1]:1"));
        CHECK(!clash("127.0.0.1:1", "[::]:1"));
        CHECK(!clash("127.0.0.1:1", "[::1]:1"));
        CHECK(!clash("127.0.0.1:1", "127.0.0.1:2"));
        CHECK(!clash("127.0.0.1:1", "127.0.0.2:1"));
        CHECK(!clash("a.example:1", "b.example:1"));
        CHECK(!clash("unix:a", "unix:b"));
        CHECK(!clash("unix:a", "127.0.0.1:1"));
    }

    TEST_CASE("a clash over sections names both") {
        CHECK(says(server + "psk = a.psk\n[client.c]\nlisten = 0.0.0.0:7700\n"
                            "connect = tcp://h:1\npsk = a.psk\n") ==
              strings{"t.conf:6: listen: 0.0.0.0:7700 clashes with 127.0.0.1:7700 of [server.s] on "
                      "line 2"});
    }

    TEST_CASE("proxies") {
        CHECK(server_says("proxy-address = 10.0.0.1, nonsense") ==
              "proxy-address: 'nonsense' is not an IP address or ADDRESS/PREFIX");
        CHECK(server_says("proxy-address = 10.0.0.1,,::1") ==
              "proxy-address: '' is not an IP address or ADDRESS/PREFIX");
        CHECK(server_says("proxy-protocol = required") ==
              "proxy-protocol needs proxy-address beside it: whose headers to believe");
        CHECK(server_says("proxy-protocol = yes\nproxy-address = ::1") ==
              "proxy-protocol: unknown value 'yes' (accepted: off, on, required)");
        CHECK(server_says("proxy-protocol = on\nproxy-address = ::1") == "");
        CHECK(server_says("proxy-protocol = off") == "");
    }
}
