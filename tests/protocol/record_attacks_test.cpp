// What someone on the path can do to records (PROTOCOL.md sections 10.4 and 10.5): whatever it is,
// the service gets the records before it and not one byte of the bad one, which is wiped.
#include <doctest/doctest.h>

#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

constexpr std::size_t listed_sizes[] = {0, 1, 15, 16, 17, 63, 64, 65, 1'350, 65'536};

// Records of one direction, each on its own.
struct stream {
    std::vector<octets> records;
    std::vector<arrival> sent;

    [[nodiscard]] octets joined() const {
        octets out;
        for (const auto& record : records) append(out, record);
        return out;
    }
    [[nodiscard]] std::vector<arrival> first(std::size_t count) const {
        return {sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(count)};
    }
    void send(sealer& out, record_type type, octets payload) {
        records.push_back(sealed(out, type, payload));
        sent.push_back({type, std::move(payload)});
    }
};

// OPEN, DATA of several sizes, a rekey in the middle, END.
stream short_stream() {
    sealer out(traffic(), role::client, {});
    stream s;
    s.send(out, record_type::open, {'d', 'b'});
    for (const std::size_t size : {1U, 16U, 33U, 70U}) {
        if (size == 33) out.rekey_with_next();
        s.send(out, record_type::data, counting(size));
    }
    s.send(out, record_type::pad, octets(5));
    s.send(out, record_type::end, {});
    return s;
}

// Takes `wire` in pieces of `piece` bytes; the fault, or what EOF means then.
error outcome(receiver& in, const octets& wire, std::size_t piece) {
    for (std::size_t at = 0; at < wire.size(); at += piece) {
        const auto part = crypto::bytes_view(wire).subspan(at, std::min(piece, wire.size() - at));
        if (const auto fault = in.feed(part); fault != error::none) return fault;
    }
    return in.in.at_eof(true);
}

TEST_CASE("each flipped bit of a stream: the records before it, nothing else") {
    const stream s = short_stream();
    const octets clean = s.joined();
    for (const std::size_t piece : {clean.size(), std::size_t{1}}) {
        std::size_t record = 0;
        std::size_t end = s.records[0].size();
        for (std::size_t bit = 0; bit < clean.size() * 8; ++bit) {
            if (bit / 8 == end) end += s.records[++record].size();
            INFO("bit ", bit, " of record ", record);
            octets wire = clean;
            wire[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
            receiver in(traffic(), role::server);
            CHECK(outcome(in, wire, piece) != error::none);
            CHECK(in.arrived == s.first(record));
        }
    }
}

TEST_CASE("a wrong tag wipes the whole record and nothing but it") {
    for (const std::size_t size : listed_sizes) {
        INFO("size ", size);
        sealer out(traffic(), role::server, {});
        octets wire = sealed(out, record_type::data, octets(3, 0xaa));
        const std::size_t good = wire.size();
        append(wire, sealed(out, record_type::pad, octets(size, 0xbb)));
        const std::size_t bad = wire.size();
        wire[bad - 1] ^= 1;
        append(wire, octets(10, 0xcc));
        opener in(traffic(), role::client);
        in.open_sent();
        std::array<opened_record, 4> records{};
        const auto done = in.feed(wire, records);
        CHECK(done.fault == error::record_tag);
        REQUIRE(done.records == 1);
        CHECK(copy_of(records[0].payload) == octets(3, 0xaa));
        CHECK(octets(wire.begin() + static_cast<std::ptrdiff_t>(good),
                     wire.begin() + static_cast<std::ptrdiff_t>(bad)) == octets(bad - good));
        CHECK(octets(wire.end() - 10, wire.end()) == octets(10, 0xcc));
    }
}

TEST_CASE("a record refused after its tag is wiped too") {
    forger from(traffic());
    octets wire = from.record(std::uint8_t{0x0f}, octets(100, 0xbb));
    opener in(traffic(), role::server);
    std::array<opened_record, 1> records{};
    CHECK(in.feed(wire, records).fault == error::record_type);
    CHECK(wire == octets(wire.size()));
}

TEST_CASE("a record that came in pieces is wiped from its first byte") {
    sealer out(traffic(), role::server, {});
    octets wire = sealed(out, record_type::data, octets(100, 0xbb));
    wire.back() ^= 1;
    receiver in(traffic(), role::client);
    in.in.open_sent();
    CHECK(in.feed_by_byte(wire) == error::record_tag);
    CHECK(in.buffer == octets(wire.size()));
}

TEST_CASE("a header that fails at once is wiped") {
    forger from(traffic());
    octets header = from.header(record_type::data, max_payload + 1);
    opener in(traffic(), role::server);
    std::array<opened_record, 1> records{};
    CHECK(in.feed(header, records).fault == error::record_too_long);
    CHECK(header == octets(header_size));
}

TEST_CASE("two records exchanged, one dropped, one repeated") {
    const stream s = short_stream();
    for (std::size_t i = 0; i + 1 < s.records.size(); ++i) {
        INFO("record ", i);
        stream swapped = s;
        std::swap(swapped.records[i], swapped.records[i + 1]);
        stream dropped = s;
        dropped.records.erase(dropped.records.begin() + static_cast<std::ptrdiff_t>(i));
        stream repeated = s;
        repeated.records.insert(repeated.records.begin() + static_cast<std::ptrdiff_t>(i),
                                s.records[i]);
        for (const std::size_t piece : {std::size_t{1}, std::size_t{10'000}}) {
            receiver a(traffic(), role::server);
            CHECK(outcome(a, swapped.joined(), piece) != error::none);
            CHECK(a.arrived == s.first(i));
            receiver b(traffic(), role::server);
            CHECK(outcome(b, dropped.joined(), piece) != error::none);
            CHECK(b.arrived == s.first(i));
            receiver c(traffic(), role::server);
            CHECK(outcome(c, repeated.joined(), piece) != error::none);
            CHECK(c.arrived == s.first(i + 1));
        }
    }
}

TEST_CASE("a record of the old epoch at its old place in the new one") {
    sealer out(traffic(), role::server, {});
    const octets zero = sealed(out, record_type::data, counting(50));
    out.rekey_with_next();
    const octets one = sealed(out, record_type::data, counting(60));
    receiver in(traffic(), role::client);
    in.in.open_sent();
    CHECK(in.feed(zero) == error::none);
    CHECK(in.feed(one) == error::none);
    CHECK(in.in.epoch() == 1);
    octets again = zero;
    append(again, octets(max_payload));
    CHECK(in.feed(again) != error::none);
    CHECK(in.arrived.size() == 2);
}

TEST_CASE("records sent back to their sender") {
    seeded_random random(1);
    for (const auto& who : all_parties()) {
        const session both = shake_hands(who, random);
        sealer client_out(both.client.c2s, role::client, {});
        octets up = sealed(client_out, record_type::pad, {});
        append(up, octets(max_payload + 100));
        receiver client_in(both.client.s2c, role::client);
        client_in.in.open_sent();
        CHECK(client_in.feed(up) != error::none);
        CHECK(client_in.arrived.empty());

        sealer server_out(both.server.s2c, role::server, {});
        octets down = sealed(server_out, record_type::pad, {});
        append(down, octets(max_payload + 100));
        receiver server_in(both.server.c2s, role::server);
        CHECK(server_in.feed(down) != error::none);
        CHECK(server_in.arrived.empty());
    }
}

TEST_CASE("a stream cut at each byte is truncated; only behind END it is whole") {
    const stream s = short_stream();
    const octets wire = s.joined();
    std::size_t whole = 0;
    std::size_t border = s.records[0].size();
    for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
        if (cut == border && whole < s.records.size()) {
            ++whole;
            if (whole < s.records.size()) border += s.records[whole].size();
        }
        const octets part(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(cut));
        receiver in(traffic(), role::server);
        const auto result = outcome(in, part, 7);
        CHECK(result == (cut == wire.size() ? error::none : error::truncated));
        CHECK(in.arrived == s.first(whole));
        CHECK(in.in.at_eof(false) == error::truncated);
    }
}

// Where to cut a record in two: everywhere; for long ones at the ends and around whole blocks.
std::vector<std::size_t> cuts_of(std::size_t size) {
    std::vector<std::size_t> cuts;
    for (std::size_t cut = 0; cut <= size; ++cut)
        if (size < 2'000 || cut < 150 || cut + 150 > size || (cut + 1 - header_size) % 2'048 < 3)
            cuts.push_back(cut);
    return cuts;
}

TEST_CASE("every listed size in two-way splits and byte by byte; nothing comes out early") {
    for (const std::size_t size : listed_sizes) {
        INFO("size ", size);
        sealer out(traffic(), role::server, {});
        const octets wire = sealed(out, record_type::pad, counting(size));
        const std::vector<arrival> sent{{record_type::pad, counting(size)}};
        for (const std::size_t cut : cuts_of(wire.size())) {
            receiver in(traffic(), role::client);
            CHECK(in.feed(crypto::bytes_view(wire).first(cut)) == error::none);
            CHECK(in.arrived.size() == (cut == wire.size() ? 1 : 0));
            CHECK(in.feed(crypto::bytes_view(wire).subspan(cut)) == error::none);
            CHECK(in.arrived == sent);
        }
        if (size > 2'000) continue;  // see "byte by byte, the longest record"
        receiver in(traffic(), role::client);
        CHECK(in.feed_by_byte(wire) == error::none);
        CHECK(in.arrived == sent);
    }
}

TEST_CASE("byte by byte, the longest record") {
    sealer out(traffic(), role::server, {});
    octets wire = sealed(out, record_type::pad, counting(max_payload));
    opener in(traffic(), role::client);
    std::array<opened_record, 1> records{};
    for (std::size_t i = 0; i < wire.size(); ++i) {
        const auto done = in.feed(crypto::bytes(wire).subspan(i, 1), records);
        REQUIRE(done.fault == error::none);
        REQUIRE(done.records == (i + 1 == wire.size() ? 1 : 0));
    }
    CHECK(copy_of(records[0].payload) == counting(max_payload));
}

}  // namespace
}  // namespace culvert::tests
