#include "config/endpoint.hpp"

#include <doctest/doctest.h>

#include "config/address.hpp"

using namespace culvert::config;

namespace {

std::string why(std::string_view text) {
    const auto parsed = parse_listen_or_unix(text, "/etc/culvert");
    return parsed ? "accepted as " + parsed->text() : parsed.error().text;
}

address_bytes address(std::string_view text) {
    return parse_address(text).value();
}

}  // namespace

TEST_SUITE("config.endpoint") {
    TEST_CASE("an address reads and prints the same") {
        for (const char* text :
             {"127.0.0.1:1", "0.0.0.0:65535", "edge.example:7700", "[::]:7700", "[2001:db8::1]:80",
              "[fe80::1%eth0]:80", "unix:/run/web.sock", "a_b-c:1"}) {
            CAPTURE(text);
            CHECK(parse_listen_or_unix(text, "/x").value().text() == text);
        }
    }

    TEST_CASE("a port alone listens on loopback") {
        CHECK(parse_listen("7700").value() == endpoint{"127.0.0.1", 7700, ""});
        CHECK(parse_listen(":7700").value() == endpoint{"127.0.0.1", 7700, ""});
    }

    TEST_CASE("a target needs its host") {
        CHECK(parse_host_port(":7700").error().text == "the host is missing: write host:port");
        CHECK(parse_host_port("7700").error().text == "'7700' has no port: write host:port");
    }

    TEST_CASE("a relative unix path counts from the folder") {
        CHECK(parse_host_port_or_unix("unix:a/web.sock", "/etc/culvert").value().unix_path ==
              "/etc/culvert/a/web.sock");
        CHECK(parse_host_port_or_unix("unix:/run/x", "/etc").value().unix_path == "/run/x");
        CHECK(parse_host_port_or_unix("unix:x", "").value().unix_path == "x");
    }

    TEST_CASE("a unix path has at most 107 bytes, its folder counted") {
        const std::string longest = "/" + std::string(106, 'a');
        CHECK(parse_host_port_or_unix("unix:" + longest, "/").has_value());
        CHECK(!parse_host_port_or_unix("unix:" + longest + "a", "/"));
        CHECK(!parse_host_port_or_unix("unix:" + std::string(100, 'a'), "/etc/culvert"));
        CHECK(why("unix:" + longest + "a").ends_with("has 108 bytes, a unix socket allows 107"));
    }

    TEST_CASE("what is no address says why") {
        CHECK(why("127.0.0.1:0") == "port '0' is not a number from 1 to 65535");
        CHECK(why("127.0.0.1:65536") == "port '65536' is not a number from 1 to 65535");
        CHECK(why("127.0.0.1:-1") == "port '-1' is not a number from 1 to 65535");
        CHECK(why("127.0.0.1:80x") == "port '80x' is not a number from 1 to 65535");
        CHECK(why("0") == "port '0' is not a number from 1 to 65535");
        CHECK(why("-1") == "port '-1' is not a number from 1 to 65535");
        CHECK(why("80x") == "port '80x' is not a number from 1 to 65535");
        CHECK(why("65536") == "port '65536' is not a number from 1 to 65535");
        CHECK(why(":80x") == "port '80x' is not a number from 1 to 65535");
        CHECK(why(":") == "port '' is not a number from 1 to 65535");
        CHECK(why("localhost") == "'localhost' has no port: write host:port");
        CHECK(why("127.0.0.1") == "'127.0.0.1' has no port: write host:port");
        CHECK(why("localhost:") == "port '' is not a number from 1 to 65535");
        CHECK(why("::1:7700") ==
              "'::1:7700': an IPv6 address stands in brackets, as in [::1]:7700");
        CHECK(why("::1") == "'::1': an IPv6 address stands in brackets, as in [::1]:7700");
        CHECK(why("[::1]") == "'[::1]' has no port: write [v6]:port");
        CHECK(why("[::1]7700") == "'[::1]7700' has no port: write [v6]:port");
        CHECK(why("[::1:7700") == "the ']' of '[::1:7700' is missing");
        CHECK(why("[127.0.0.1]:1") == "'127.0.0.1' is not an IPv6 address");
        CHECK(why("[::1%]:1") == "'::1%' is not an IPv6 address");
        CHECK(why("256.0.0.1:1") == "'256.0.0.1' is not an IPv4 address");
        CHECK(why("1.2.3:1") == "'1.2.3' is not an IPv4 address");
        CHECK(why("*:1") == "'*' is not a host: write 0.0.0.0 or [::]");
        CHECK(why("a b:1") == "'a b' is not a host name or address");
        CHECK(why("a..b:1") == "'a..b' is not a host name or address");
        CHECK(why("tcp://h:1").ends_with("in brackets, as in [::1]:7700"));
        CHECK(why("unix:") == "the path after 'unix:' is missing");
    }

    TEST_CASE("ranges hold their addresses and no others") {
        const auto net = parse_address_range("10.32.0.0/11").value();
        CHECK(net.contains(address("10.32.0.0")));
        CHECK(net.contains(address("10.63.255.255")));
        CHECK(!net.contains(address("10.64.0.0")));
        CHECK(!net.contains(address("10.31.255.255")));
        CHECK(!net.contains(address("::10.32.0.0")));
        CHECK(net.contains(address("::ffff:10.32.0.1")));
        const auto one = parse_address_range("2001:db8::7").value();
        CHECK(one.contains(address("2001:db8::7")));
        CHECK(!one.contains(address("2001:db8::6")));
        CHECK(parse_address_range("0.0.0.0/0").value().contains(address("8.8.8.8")));
        CHECK(!parse_address_range("0.0.0.0/0").value().contains(address("2001:db8::7")));
        CHECK(parse_address_range("::/0").value().contains(address("8.8.8.8")));
        CHECK(parse_address_range("2001:db8::/33").value().contains(address("2001:db8:7fff::1")));
        CHECK(!parse_address_range("2001:db8::/33").value().contains(address("2001:db8:8000::")));
    }

    TEST_CASE("what is no range says why") {
        const auto range_why = [](auto text) { return parse_address_range(text).error().text; };
        CHECK(range_why("proxy") == "'proxy' is not an IP address or ADDRESS/PREFIX");
        CHECK(range_why("") == "'' is not an IP address or ADDRESS/PREFIX");
        CHECK(range_why("10.0.0.0/33") ==
              "the prefix of '10.0.0.0/33' is not a number from 0 to 32");
        CHECK(range_why("::/129") == "the prefix of '::/129' is not a number from 0 to 128");
        CHECK(range_why("10.0.0.0/") == "the prefix of '10.0.0.0/' is not a number from 0 to 32");
        CHECK(range_why("10.0.0.0/-1") ==
              "the prefix of '10.0.0.0/-1' is not a number from 0 to 32");
    }
}
