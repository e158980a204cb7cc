// A file's mistakes: all of them, in order, with lines and near names.
#include <doctest/doctest.h>

#include <random>

#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;
using strings = std::vector<std::string>;

TEST_SUITE("config.mistakes") {
    TEST_CASE("ten mistakes of one file are all told in order") {
        const folder in;
        write_keys(in);
        const std::string text = R"([daemon]
thraeds = 2
log-level = inof

[sever.edge]
lisen = 0.0.0.0:7700
carrier = tcp
path = /tunnel
psk = a.psk
service = redis 127.0.0.1:80x
keepalive = 4s
max-connections = 1e9

[client.redis]
listen = 127.0.0.1:6380   # fine
listen = 127.0.0.1:6381
connect = tpc://edge.example:7700
psk = missing.psk
)";
        CHECK(texts_of(parse_in(in, text)) ==
              strings{
                  "t.conf:2: unknown key 'thraeds', did you mean 'threads'?",
                  "t.conf:3: log-level: unknown value 'inof', did you mean 'info'? (accepted: "
                  "error, warning, info, debug)",
                  "t.conf:5: unknown section 'sever', did you mean 'server'? (accepted: [daemon], "
                  "[server.NAME], [client.NAME])",
                  "t.conf:6: unknown key 'lisen', did you mean 'listen'?",
                  "t.conf:8: path needs carrier = ws: plain TCP has no paths",
                  "t.conf:10: service: port '80x' is not a number from 1 to 65535",
                  "t.conf:11: keepalive: '4s' is out of range: 5s to 5m is accepted",
                  "t.conf:12: max-connections: '1e9' is not a whole number",
                  "t.conf:16: 'listen' stands here again, first on line 15",
                  "t.conf:17: connect: unknown scheme 'tpc', did you mean 'tcp'? (accepted: "
                  "tcp://host:port or ws://host:port/path)",
                  "t.conf:18: psk: " + (in / "missing.psk").native() +
                      ": No such file or directory; culvert keygen makes key files"});
    }

    TEST_CASE("lines that are none of the three forms") {
        CHECK(server_says("listen 7700") == "'listen 7700' has no '=': a line is KEY = VALUE");
        CHECK(server_says("= 7700") == "the key in front of '=' is missing");
        CHECK(server_says("proxy-address =") ==
              "proxy-address: the value is missing: write ADDRESS[/PREFIX], ...");
        CHECK(server_says("keepalive = # nothing") ==
              "keepalive: the value is missing: write TIME, 5s-5m");
        CHECK(server_says("identity =").starts_with("identity: the value is missing: write FILE"));
    }

    TEST_CASE("a key in front of all sections") {
        const folder in;
        write_keys(in);
        const auto read =
            parse_in(in, "threads = 2\n[client.c]\nlisten = 1\nconnect = tcp://h:1\npsk = a.psk\n");
        CHECK(texts_of(read) == strings{"t.conf:1: 'threads = 2' stands before the first section"});
    }

    TEST_CASE("a key of another kind of section says where it belongs") {
        CHECK(client_says("clients = clients.pub") ==
              "'clients' is no key of [client.c], it belongs to [server.NAME]");
        CHECK(client_says("carrier = ws") ==
              "'carrier' is no key of [client.c], it belongs to [server.NAME]");
        CHECK(server_says("server-key = x") ==
              "'server-key' is no key of [server.s], it belongs to [client.NAME]");
        CHECK(server_says("threads = 2") ==
              "'threads' is no key of [server.s], it belongs to [daemon]");
        CHECK(server_says("pool = 8") ==
              "'pool' is no key of [server.s], it belongs to [client.NAME]");
        CHECK(server_says("frobnicate = 2") == "unknown key 'frobnicate'");
        CHECK(server_says("Keepalive = 20") ==
              "unknown key 'Keepalive', did you mean 'keepalive'?");
        CHECK(server_says("keep_alive = 20") ==
              "unknown key 'keep_alive', did you mean 'keepalive'?");
    }

    TEST_CASE("headings") {
        const auto says = [](std::string_view heading) {
            const folder in;
            write_keys(in);
            return texts_of(parse_in(in, std::string(heading) +
                                             "\n[client.c]\nlisten = 1\nconnect = tcp://h:1\n"
                                             "psk = a.psk\n"));
        };
        CHECK(says("[daemon.x]") == strings{"t.conf:1: [daemon] takes no name"});
        CHECK(says("[foo.x]\nanything = 1") ==
              strings{"t.conf:1: unknown section 'foo' (accepted: [daemon], [server.NAME], "
                      "[client.NAME])"});
        CHECK(says("[daemon").front() == "t.conf:1: the ']' of the section is missing");
        CHECK(says("[server]").front() == "t.conf:1: the section needs a name: [server.NAME]");
        CHECK(says("[server.]").front() == "t.conf:1: the section needs a name: [server.NAME]");
        CHECK(says("[server.a b]").front() ==
              "t.conf:1: 'a b' is not a name: letters, digits, '.', '_' and '-' only");
        CHECK(says("[]").size() == 1);
        CHECK(says("[").size() == 1);
        CHECK(says("[ daemon ] # fine") == strings{});
        CHECK(says("[daemon] junk").size() == 1);
    }

    TEST_CASE("one section per name, and the second is not merged") {
        const folder in;
        write_keys(in);
        const auto read = parse_in(in,
                                   "[client.c]\nlisten = 1\nconnect = tcp://h:1\npsk = a.psk\n"
                                   "[daemon]\n[client.c]\nlisten = 2\nlisen = 3\n[daemon]\n");
        CHECK(texts_of(read) == strings{"t.conf:6: [client.c] stands here again, first on line 1",
                                        "t.conf:8: unknown key 'lisen', did you mean 'listen'?",
                                        "t.conf:9: [daemon] stands here again, first on line 5"});
        CHECK(read.value.clients.size() == 1);
        CHECK(read.value.clients.front().listen.port == 1);
    }

    TEST_CASE("the same name may be a server and a client") {
        const folder in;
        write_keys(in);
        CHECK(parse_in(in,
                       "[client.c]\nlisten = 1\nconnect = tcp://h:2\npsk = a.psk\n"
                       "[server.c]\nlisten = 2\nservice = x h:1\npsk = a.psk\n")
                  .ok());
    }

    TEST_CASE("a list of clients tells mistakes under its own name") {
        const folder in;
        write_keys(in);
        const auto list = in.write("bad.pub", "alice 00\n");
        const auto read = parse_in(
            in, "[server.s]\nlisten = 1\nservice = x h:1\nidentity = b.key\nclients = bad.pub\n");
        CHECK(texts_of(read) ==
              strings{list.native() + ":1: the public key of 'alice' holds 2 characters: a key is "
                                      "64 hex digits or 44 characters of base64"});
        CHECK(!read.ok());
    }

    TEST_CASE("NUL bytes and long lines are told with their lines, and the rest is read") {
        using namespace std::string_literals;
        CHECK(server_says("path = /\0"s) ==
              "the line holds a NUL byte: save the file as plain UTF-8 text");
        CHECK(server_says("realm = " + std::string(1 << 20, 'x')) ==
              "the line is longer than 8192 bytes");
        CHECK(server_says("realm = " + std::string(256, 'x')) == "realm: is longer than 255 bytes");
        CHECK(server_says("realm = " + std::string(255, 'x')) == "");
    }

    TEST_CASE("a file of junk ends after so many mistakes") {
        const folder in;
        std::mt19937 random(20240607);
        std::string junk(1 << 20, '\0');
        for (char& c : junk) c = static_cast<char>(random());
        const auto read = parse_in(in, junk);
        REQUIRE(!read.ok());
        CHECK(read.diagnostics.size() <= 105);
        CHECK(read.diagnostics.back().text ==
              "too many mistakes: the rest of the file was not read");
        for (const std::string& text : texts_of(read)) {
            CHECK(text.size() < 500);
            CHECK(text.find('\x1b') == text.npos);
        }
    }

    TEST_CASE("no line is ever thrown at the caller") {
        const folder in;
        write_keys(in);
        std::mt19937 random(7);
        const std::string base =
            "[daemon]\ndrain = 3m\n[server.s]\nlisten = [::1]:7700\ncarrier = ws\npath = /x\n"
            "psk = a.psk\nservice = x unix:y\nproxy-address = 10.0.0.0/8, ::1\n[client.c]\n"
            "listen = 6380\nconnect = ws://h:7700/p\nidentity = b.key\nserver-key = 00\n";
        for (int i = 0; i < 3000; ++i) {
            std::string text = base;
            for (int edits = 0; edits < 4; ++edits) {
                const std::size_t at = random() % text.size();
                switch (random() % 3) {
                    case 0:
                        text[at] = "\n[]=#/:., \t-%\0a9\xff"[random() % 16];
                        break;
                    case 1:
                        text.erase(at, random() % 8);
                        break;
                    default:
                        text.insert(at, text.substr(random() % text.size(), 8));
                        break;
                }
            }
            CAPTURE(text);
            CHECK_NOTHROW(parse_in(in, text));
        }
    }
}
