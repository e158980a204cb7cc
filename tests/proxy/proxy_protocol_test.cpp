// Headers of the PROXY protocol: what is written, what is read, what is refused. The bytes are
// those of the specification, or of HAProxy 2.6 as a test of the real programs saw them.
#include "proxy/relay/proxy_protocol.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace culvert;
using relay::proxied;
using relay::proxy_header_reader;
using state = proxy_header_reader::state;
using octets = std::vector<std::uint8_t>;

namespace {

carrier::ip_place v4(std::uint8_t last, std::uint16_t port) {
    carrier::ip_place place;
    place.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, last};
    place.port = port;
    return place;
}

carrier::ip_place v6(std::uint8_t last, std::uint16_t port) {
    carrier::ip_place place;
    place.address = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
    place.port = port;
    return place;
}

const proxied over_ipv4{v4(7, 56324), v4(9, 443)};
const proxied over_ipv6{v6(7, 1), v6(9, 65535)};

octets of_text(const std::string& text) {
    return {text.begin(), text.end()};
}

octets operator+(octets a, const octets& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

const octets signature{0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};

octets header(std::uint8_t command, std::uint8_t family, const octets& rest) {
    const auto size = rest.size();
    return signature +
           octets{command, family, static_cast<std::uint8_t>(size >> 8),
                  static_cast<std::uint8_t>(size)} +
           rest;
}

const octets addresses4{192, 0, 2, 7, 192, 0, 2, 9, 0xdc, 0x04, 0x01, 0xbb};

struct reading {
    state end;
    std::optional<proxied> about;
    std::size_t taken;
};

// Whole, and byte by byte, with something else behind it: both times the same.
reading read(const octets& whole) {
    proxy_header_reader at_once;
    const std::size_t taken = at_once.feed(whole + of_text("PROXY \r\n and more"));
    proxy_header_reader in_bytes;
    std::size_t fed = 0;
    for (const std::uint8_t byte : whole) {
        if (in_bytes.current() != state::more) break;
        fed += in_bytes.feed(octets{byte});
    }
    CHECK(in_bytes.about() == at_once.about());
    if (at_once.current() == state::done) {
        CHECK(in_bytes.current() == state::done);
        CHECK(fed == taken);
    }
    return {at_once.current(), at_once.about(), taken};
}

void check_good(const octets& whole, const std::optional<proxied>& about) {
    const reading got = read(whole);
    CHECK(got.end == state::done);
    CHECK(got.about == about);
    CHECK(got.taken == whole.size());  // and not a byte of what comes behind
}

bool refused(const octets& whole) {
    proxy_header_reader reader;
    reader.feed(whole);
    return reader.current() == state::malformed && *reader.fault() != '\0';
}
bool refused(const std::string& text) {
    return refused(of_text(text));
}

}  // namespace

TEST_SUITE("PROXY protocol: writing") {
    TEST_CASE("version 1") {
        CHECK(relay::proxy_header_v1(over_ipv4) ==
              of_text("PROXY TCP4 192.0.2.7 192.0.2.9 56324 443\r\n"));
        CHECK(relay::proxy_header_v1(over_ipv6) ==
              of_text("PROXY TCP6 2001:db8::7 2001:db8::9 1 65535\r\n"));
        CHECK(relay::proxy_header_v1(proxied{v4(7, 1), v6(9, 2)}) ==
              of_text("PROXY TCP6 ::ffff:192.0.2.7 2001:db8::9 1 2\r\n"));
        CHECK(relay::proxy_header_v1(std::nullopt) == of_text("PROXY UNKNOWN\r\n"));
    }

    TEST_CASE("version 2: addresses, the client's name, the checksum") {
        const octets plain = relay::proxy_header_v2(over_ipv4, "");
        REQUIRE(plain.size() == 16 + 12 + 7);
        CHECK(octets(plain.begin(), plain.begin() + 28) ==
              signature + octets{0x21, 0x11, 0, 19} + addresses4);
        CHECK(octets(plain.begin() + 28, plain.begin() + 31) == octets{0x03, 0, 4});
        const octets named = relay::proxy_header_v2(over_ipv4, "laptop");
        CHECK(octets(named.begin() + 28, named.begin() + 37) ==
              octets{0xe0, 0, 6, 'l', 'a', 'p', 't', 'o', 'p'});
        CHECK(relay::proxy_header_v2(over_ipv6, "x")[13] == 0x21);
        CHECK(relay::proxy_header_v2(std::nullopt, "")[13] == 0x00);
        // The longest name, both addresses: one segment of any host takes it.
        CHECK(relay::proxy_header_v2(over_ipv6, std::string(255, 'n')).size() <= 536);
    }

    TEST_CASE("the checksum is CRC-32C") {
        // "123456789" in a NOOP of a header whose checksum a bitwise CRC in Python gave.
        const octets whole = header(0x21, 0x11,
                                    addresses4 + octets{0x04, 0, 9} + of_text("123456789") +
                                        octets{0x03, 0, 4, 0x10, 0x13, 0x93, 0x17});
        check_good(whole, over_ipv4);
    }

    TEST_CASE("LOCAL has nothing behind it") {
        CHECK(relay::proxy_header_local() == signature + octets{0x20, 0x00, 0, 0});
    }

    TEST_CASE("what is written can be read") {
        for (const auto& about : {over_ipv4, over_ipv6}) {
            check_good(relay::proxy_header_v1(about), about);
            check_good(relay::proxy_header_v2(about, ""), about);
            check_good(relay::proxy_header_v2(about, std::string(255, 'n')), about);
        }
        check_good(relay::proxy_header_v1(std::nullopt), std::nullopt);
        check_good(relay::proxy_header_v2(std::nullopt, "laptop"), std::nullopt);
        check_good(relay::proxy_header_local(), std::nullopt);
    }
}

TEST_SUITE("PROXY protocol: reading version 1") {
    TEST_CASE("lines that are good") {
        check_good(of_text("PROXY TCP4 192.0.2.7 192.0.2.9 56324 443\r\n"), over_ipv4);
        check_good(of_text("PROXY TCP6 2001:DB8:0::7 2001:db8::9 1 65535\r\n"), over_ipv6);
        check_good(of_text("PROXY TCP6 ::ffff:192.0.2.7 ::ffff:192.0.2.9 56324 443\r\n"),
                   over_ipv4);
        check_good(of_text("PROXY UNKNOWN\r\n"), std::nullopt);
        check_good(of_text("PROXY UNKNOWN ffff::1 what ever\r 1\r\n"), std::nullopt);
        check_good(of_text("PROXY UNKNOWN " + std::string(107 - 16, 'x') + "\r\n"), std::nullopt);
    }

    TEST_CASE("lines that are not") {
        const std::string tail = " 192.0.2.9 56324 443\r\n";
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 56324 443\n\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7  192.0.2.9 56324 443\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 56324 443 \r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 56324\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.07" + tail));
        CHECK(refused("PROXY TCP4 192.0.2.256" + tail));
        CHECK(refused("PROXY TCP4 192.0.2" + tail));
        CHECK(refused(std::string("PROXY TCP4 192.0.2.7\0x", 22) + tail));
        CHECK(refused("PROXY TCP4 2001:db8::7" + tail));
        CHECK(refused("PROXY TCP6 192.0.2.7" + tail));
        CHECK(refused("PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 056324 443\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 65536 443\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 -1 443\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 1 +2\r\n"));
        CHECK(refused("PROXY TCP4 192.0.2.7 192.0.2.9 1 \r\n"));
        CHECK(refused("PROXY UDP4 192.0.2.7" + tail));
        CHECK(refused("PROXY UNKNOWNS\r\n"));
        CHECK(refused("PROXY \r\n"));
        CHECK(refused("PROXY\r\n"));
        CHECK(refused("PROXy TCP4"));
        CHECK(refused("proxy"));
        CHECK(refused("GET / HTTP/1.1\r\n"));
        CHECK(refused("PROXY UNKNOWN " + std::string(200, 'x')));
    }

    TEST_CASE("107 bytes without an end are too many, 106 not yet") {
        const octets line = of_text("PROXY UNKNOWN " + std::string(107, 'x'));
        proxy_header_reader reader;
        CHECK(reader.feed(octets(line.begin(), line.begin() + 106)) == 106);
        CHECK(reader.current() == state::more);
        CHECK(reader.feed(octets{'\n'}) == 1);
        CHECK(reader.current() == state::malformed);
    }
}

TEST_SUITE("PROXY protocol: reading version 2") {
    TEST_CASE("families") {
        check_good(header(0x21, 0x11, addresses4), over_ipv4);
        octets addresses6;
        for (const auto& place : {over_ipv6.from, over_ipv6.to})
            for (const std::uint8_t byte : place.address) addresses6.push_back(byte);
        addresses6 = addresses6 + octets{0, 1, 0xff, 0xff};
        check_good(header(0x21, 0x21, addresses6), over_ipv6);
        // Known, and of no use here: the connection's own addresses count.
        check_good(header(0x21, 0x12, addresses4), std::nullopt);
        check_good(header(0x21, 0x22, addresses6), std::nullopt);
        check_good(header(0x21, 0x31, octets(216, 'x')), std::nullopt);
        check_good(header(0x21, 0x32, octets(216, 'x')), std::nullopt);
        check_good(header(0x21, 0x00, {}), std::nullopt);
        check_good(header(0x21, 0x00, octets(5, 'x')), std::nullopt);
        // LOCAL: whatever is there is skipped.
        check_good(header(0x20, 0x00, {}), std::nullopt);
        check_good(header(0x20, 0x11, addresses4), std::nullopt);
        check_good(header(0x20, 0x11, octets(3, 'x')), std::nullopt);
        for (const int family : {0x01, 0x10, 0x13, 0x20, 0x23, 0x30, 0x33, 0x41, 0xff})
            CHECK(refused(header(0x21, static_cast<std::uint8_t>(family), octets(216, 0))));
    }

    TEST_CASE("commands and versions") {
        for (const int command : {0x00, 0x10, 0x11, 0x22, 0x2f, 0x30, 0x31, 0xff})
            CHECK(refused(header(static_cast<std::uint8_t>(command), 0x11, addresses4)));
    }

    TEST_CASE("TLVs are skipped, and have to be whole") {
        check_good(header(0x21, 0x11, addresses4 + octets{0x04, 0, 0, 0x05, 0, 2, 'i', 'd'}),
                   over_ipv4);
        CHECK(refused(header(0x21, 0x11, addresses4 + octets{0x04})));
        CHECK(refused(header(0x21, 0x11, addresses4 + octets{0x04, 0})));
        CHECK(refused(header(0x21, 0x11, addresses4 + octets{0x04, 0, 1})));
        CHECK(refused(header(0x21, 0x11, addresses4 + octets{0x04, 1, 0, 0})));
        CHECK(refused(header(0x21, 0x11, octets(addresses4.begin(), addresses4.end() - 1))));
        CHECK(refused(header(0x21, 0x31, octets(215, 'x'))));
    }

    TEST_CASE("a checksum that is there has to be right") {
        const octets good = relay::proxy_header_v2(over_ipv4, "laptop");
        check_good(good, over_ipv4);
        for (std::size_t at = 16; at < good.size(); ++at) {
            for (const int bit : {1, 128}) {
                octets wrong = good;
                wrong[at] ^= static_cast<std::uint8_t>(bit);
                CAPTURE(at);
                const reading got = read(wrong);
                // A checksum that is no more known as one is not looked at.
                const bool is_another_type = at == good.size() - 7;
                CHECK((got.end == state::malformed) == !is_another_type);
            }
        }
        octets two = addresses4;
        for (int i = 0; i < 2; ++i) two = two + octets{0x03, 0, 4, 0, 0, 0, 0};
        CHECK(refused(header(0x21, 0x11, two)));
        CHECK(refused(header(0x21, 0x11, addresses4 + octets{0x03, 0, 3, 0, 0, 0})));
    }

    TEST_CASE("as long as may be, and longer") {
        const auto with_noop = [](std::size_t size) {
            const auto rest = size - 16 - 12 - 3;
            return header(0x21, 0x11,
                          addresses4 +
                              octets{0x04, static_cast<std::uint8_t>(rest >> 8),
                                     static_cast<std::uint8_t>(rest)} +
                              octets(rest, 0));
        };
        check_good(with_noop(proxy_header_reader::longest), over_ipv4);
        CHECK(refused(with_noop(proxy_header_reader::longest + 1)));
        // Known by its first 16 bytes: none of the rest is waited for.
        const octets huge = header(0x21, 0x11, octets(0xffff, 0));
        CHECK(refused(octets(huge.begin(), huge.begin() + 16)));
    }

    TEST_CASE("every wrong byte of the signature is seen at once") {
        for (std::size_t at = 0; at < signature.size(); ++at) {
            octets wrong(signature.begin(), signature.begin() + static_cast<std::ptrdiff_t>(at));
            wrong.push_back(signature[at] ^ 0x40);
            CAPTURE(at);
            CHECK(refused(wrong));
        }
    }
}
