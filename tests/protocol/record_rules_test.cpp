// The record table of PROTOCOL.md section 7, row by row. The forger seals what a well-behaved
// sender never would, so that only the rule in question can refuse it.
#include <doctest/doctest.h>

#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

// A receiver in one of the states of the table, and the forger that speaks to it.
struct line {
    explicit line(role receives) : in(traffic(), receives), from(traffic()) {}

    error take(const octets& wire) { return in.feed(wire); }
    error take(record_type type, const octets& payload = {}) {
        return take(from.record(type, payload));
    }
    error take_byte(unsigned first_byte, const octets& payload = {}) {
        return take(from.record(static_cast<std::uint8_t>(first_byte), payload));
    }
    [[nodiscard]] std::size_t arrived() const { return in.arrived.size(); }

    receiver in;
    forger from;
};

line unopened_server() {
    return line(role::server);
}
line open_server() {
    line out(role::server);
    REQUIRE(out.take(record_type::open) == error::none);
    return out;
}
line open_client() {
    line out(role::client);
    out.in.in.open_sent();
    return out;
}
line ended(line out) {
    REQUIRE(out.take(record_type::end) == error::none);
    REQUIRE(out.in.in.ended());
    return out;
}

using maker = line (*)();
constexpr maker open_lines[] = {open_server, open_client};
constexpr maker ended_lines[] = {[] { return ended(open_server()); },
                                 [] { return ended(open_client()); }};
constexpr maker all_lines[] = {open_server, open_client, ended_lines[0], ended_lines[1]};

void check_dead(line& l, error expected, error got) {
    CHECK(got == expected);
    const std::size_t before = l.arrived();
    CHECK(l.take(record_type::pad) == expected);  // a fault stays
    CHECK(l.arrived() == before);
}

TEST_CASE("DATA of 1 to 65,536 bytes: delivered while open, an error after END") {
    for (const std::size_t size : {std::size_t{1}, max_payload}) {
        for (const maker make : open_lines) {
            line l = make();
            CHECK(l.take(record_type::data, counting(size)) == error::none);
            CHECK(l.in.arrived.back() == arrival{record_type::data, counting(size)});
        }
        for (const maker make : ended_lines) {
            line l = make();
            check_dead(l, error::record_order, l.take(record_type::data, counting(size)));
        }
    }
}

TEST_CASE("DATA of 0 bytes") {
    for (const maker make : open_lines) {
        line l = make();
        check_dead(l, error::record_length, l.take(record_type::data));
    }
    for (const maker make : ended_lines) {
        line l = make();
        check_dead(l, error::record_order, l.take(record_type::data));
    }
}

TEST_CASE("END: once, and without content") {
    for (const maker make : open_lines) {
        line once = make();
        CHECK_FALSE(once.in.in.ended());
        CHECK(once.take(record_type::end) == error::none);
        CHECK(once.in.in.ended());
        check_dead(once, error::record_order, once.take(record_type::end));
        line full = make();
        check_dead(full, error::record_length, full.take(record_type::end, {0}));
        CHECK_FALSE(full.in.in.ended());
    }
}

TEST_CASE("PAD: any content up to 65,536 bytes, before and after END") {
    for (const maker make : all_lines) {
        line l = make();
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, max_payload})
            CHECK(l.take(record_type::pad, counting(size)) == error::none);
    }
}

TEST_CASE("ALERT: one byte, before and after END, without REKEY") {
    for (const maker make : all_lines) {
        line good = make();
        CHECK(good.take(record_type::alert, {3}) == error::none);
        CHECK(good.in.arrived.back() == arrival{record_type::alert, {3}});
        line empty = make();
        check_dead(empty, error::record_length, empty.take(record_type::alert));
        line two = make();
        check_dead(two, error::record_length, two.take(record_type::alert, {3, 3}));
        line rekey = make();
        check_dead(rekey, error::record_flag, rekey.take_byte(0x83, {3}));
    }
}

TEST_CASE("an ALERT is the last record of its sender: whatever follows is ignored") {
    for (const maker make : all_lines) {
        line l = make();
        const std::size_t before = l.arrived();
        octets wire = l.from.record(record_type::alert, octets{4});
        append(wire, l.from.record(record_type::data, octets(10)));
        append(wire, octets(100));
        CHECK(l.take(wire) == error::none);
        CHECK(l.take(wire) == error::none);
        CHECK(l.arrived() == before + 1);
        CHECK(l.in.in.held() == 0);
    }
}

TEST_CASE("codes of an ALERT: 1 to 6 mean themselves, all else a backend that was reset") {
    for (unsigned code = 0; code < 256; ++code) {
        const auto meaning = alert_from(static_cast<std::uint8_t>(code));
        const bool known = code >= 1 && code <= 6;
        CHECK(static_cast<unsigned>(meaning) == (known ? code : 2));
    }
}

TEST_CASE("REKEY on any record but ALERT begins the next epoch") {
    line l = unopened_server();
    CHECK(l.take_byte(0x82) == error::none);
    CHECK(l.take_byte(0x84, {'a'}) == error::none);
    CHECK(l.take_byte(0x80, {1}) == error::none);
    CHECK(l.take_byte(0x81) == error::none);
    CHECK(l.take_byte(0x82) == error::none);
    CHECK(l.in.in.epoch() == 5);
    CHECK(l.in.in.index() == 0);
    CHECK(l.take(record_type::pad) == error::none);
}

TEST_CASE("OPEN at the server: once, first, of the bytes that names have") {
    line l = unopened_server();
    CHECK_FALSE(l.in.in.opened());
    CHECK_FALSE(l.in.in.confirmed());
    CHECK(l.take(record_type::pad) == error::none);
    CHECK(l.in.in.confirmed());
    CHECK_FALSE(l.in.in.opened());
    CHECK(l.take(record_type::open, {'d', 'b'}) == error::none);
    CHECK(l.in.in.opened());
    check_dead(l, error::record_order, l.take(record_type::open, {'d', 'b'}));
    line late = ended(open_server());
    check_dead(late, error::record_order, late.take(record_type::open));
}

TEST_CASE("each byte of a service name") {
    for (unsigned c = 0; c < 256; ++c) {
        const bool allowed = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                             (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-' || c == ':';
        for (const std::size_t place : {0U, 1U, 254U}) {
            octets name(255, 'n');
            name[place] = static_cast<std::uint8_t>(c);
            line l = unopened_server();
            CHECK(l.take(record_type::open, name) == (allowed ? error::none : error::service_name));
            CHECK(l.arrived() == (allowed ? 1 : 0));
            CHECK(l.in.in.opened() == allowed);
        }
    }
}

TEST_CASE("OPEN at the client, whether it has sent its own or not") {
    line before(role::client);
    check_dead(before, error::record_order, before.take(record_type::open));
    line after = open_client();
    check_dead(after, error::record_order, after.take(record_type::open));
    line end = ended(open_client());
    check_dead(end, error::record_order, end.take(record_type::open));
}

TEST_CASE("DATA and END before OPEN, at both ends; PAD and ALERT pass") {
    for (const role receives : {role::server, role::client}) {
        line data(receives);
        check_dead(data, error::record_order, data.take(record_type::data, {1}));
        line end(receives);
        check_dead(end, error::record_order, end.take(record_type::end));
        line pad(receives);
        CHECK(pad.take(record_type::pad, octets(255)) == error::none);
        CHECK(pad.take(record_type::alert, {6}) == error::none);
    }
}

TEST_CASE("before OPEN a server refuses more than 255 bytes at the header, of any type") {
    for (unsigned type = 0; type < 16; ++type) {
        for (const std::uint32_t length : {256U, 65'536U, 65'537U, 0xffffffU}) {
            line l = unopened_server();
            const octets header = l.from.header(static_cast<record_type>(type), length);
            CHECK(l.take({header.begin(), header.end() - 1}) == error::none);
            check_dead(l, error::record_too_long, l.take({header.back()}));
        }
        line l = unopened_server();
        CHECK(l.take(l.from.header(static_cast<record_type>(type), 255)) == error::none);
    }
    line client(role::client);  // a client has no such limit: it knows its server
    CHECK(client.take(record_type::pad, octets(max_payload)) == error::none);
}

TEST_CASE("more than 65,536 bytes are refused at the header") {
    for (const maker make : all_lines) {
        for (unsigned type = 0; type < 16; ++type) {
            line l = make();
            check_dead(l, error::record_too_long,
                       l.take(l.from.header(static_cast<record_type>(type), max_payload + 1)));
        }
        line longest = make();
        CHECK(longest.take(longest.from.header(record_type::data, max_payload)) == error::none);
    }
}

TEST_CASE("types 5 to 15 and the reserved bits, after the tag") {
    for (const maker make :
         {all_lines[0], all_lines[1], all_lines[2], all_lines[3], maker{unopened_server}}) {
        for (unsigned type = 5; type < 16; ++type) {
            line l = make();
            const octets wire = l.from.record(static_cast<std::uint8_t>(type), octets(20));
            CHECK(l.take({wire.begin(), wire.end() - 1}) == error::none);  // no hint before
            check_dead(l, error::record_type, l.take({wire.back()}));
        }
        for (const unsigned bit : {0x10U, 0x20U, 0x40U, 0x70U}) {
            line l = make();
            const octets wire = l.from.record(static_cast<std::uint8_t>(bit | 2), octets(20));
            CHECK(l.take({wire.begin(), wire.end() - 1}) == error::none);
            check_dead(l, error::record_flag, l.take({wire.back()}));
        }
    }
}

TEST_CASE("faults of the header are silent when the tag is wrong too") {
    for (const unsigned first : {0x05U, 0x12U, 0x83U, 0x00U, 0x04U}) {
        line l = open_client();
        octets wire = l.from.record(static_cast<std::uint8_t>(first), {});
        wire.back() ^= 1;
        check_dead(l, error::record_tag, l.take(wire));
    }
}

TEST_CASE("no record after 2^32 - 1 without REKEY") {
    for (const maker make : all_lines) {
        line l = make();
        l.from.skip_to(epoch_cipher::max_records - 1);
        l.in.in.skip_to(epoch_cipher::max_records - 1);
        CHECK(l.take(record_type::pad) == error::none);
        CHECK(l.take({1, 2, 3}) == error::none);
        CHECK(l.take({4}) == error::record_counter);
    }
}

TEST_CASE("the end of the carrier") {
    for (const bool ours_ended : {false, true}) {
        for (const maker make : open_lines) {
            line open = make();
            CHECK(open.in.in.at_eof(ours_ended) == error::truncated);
            line inside = make();
            CHECK(inside.take(octets{1}) == error::none);
            CHECK(inside.in.in.at_eof(ours_ended) == error::truncated);
        }
        for (const maker make : ended_lines) {
            const error expected = ours_ended ? error::none : error::truncated;
            line end = make();
            CHECK(end.in.in.at_eof(ours_ended) == expected);
            line inside = make();
            CHECK(inside.take(octets{1}) == error::none);
            CHECK(inside.in.in.at_eof(ours_ended) == expected);
        }
    }
}

TEST_CASE("each error has a text of its own and one of the two conditions") {
    std::vector<std::string> texts;
    for (int value = 1; value <= static_cast<int>(error::truncated); ++value) {
        const auto code = make_error_code(static_cast<error>(value));
        const auto group = value < static_cast<int>(error::record_too_long) ? condition::handshake
                                                                            : condition::record;
        CHECK(code == group);
        CHECK(std::find(texts.begin(), texts.end(), code.message()) == texts.end());
        texts.push_back(code.message());
    }
}

}  // namespace
}  // namespace culvert::tests
