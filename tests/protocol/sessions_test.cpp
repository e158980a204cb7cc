// Two cores back to back in memory: whatever the modes, sizes, splits and epochs, what comes out
// is what went in.
#include <doctest/doctest.h>

#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;
using namespace std::chrono_literals;

// One direction of a session, with its own idea of time.
struct channel {
    channel(const traffic_secret& sender_secret, const traffic_secret& receiver_secret, role sends,
            epoch_limits limits = {})
        : out(sender_secret, sends, {}, limits),
          in(receiver_secret, sends == role::client ? role::server : role::client) {
        if (sends == role::server) in.in.open_sent();
    }
    void send(record_type type, const octets& payload) {
        sent.push_back({type, payload});
        append(wire, sealed(out, type, payload, now));
    }

    sealer out;
    receiver in;
    octets wire;
    std::vector<arrival> sent;
    steady_time now;
};

// Random records between OPEN and END.
void send_some(channel& c, seeded_random& random, std::size_t records, bool opens) {
    if (opens) c.send(record_type::open, {'w', 'e', 'b'});
    for (std::size_t i = 0; i < records; ++i) {
        const std::size_t most = i % 16 == 0 ? max_payload : 2'000;
        if (random.up_to(3) == 0)
            c.send(record_type::pad, octets(random.up_to(most)));
        else
            c.send(record_type::data, random.bytes(1 + random.up_to(most - 1)));
    }
    c.send(record_type::end, {});
    c.send(record_type::pad, {});
}

void deliver_in_random_pieces(channel& c, seeded_random& random) {
    for (std::size_t at = 0; at < c.wire.size();) {
        const std::size_t most = random.up_to(1) == 0 ? 40 : 100'000;
        const std::size_t piece = std::min(1 + random.up_to(most), c.wire.size() - at);
        REQUIRE(c.in.feed(crypto::bytes_view(c.wire).subspan(at, piece)) == error::none);
        at += piece;
    }
}

void check_delivered(const channel& c) {
    CHECK(c.in.arrived == c.sent);
    CHECK(c.in.in.held() == 0);
    CHECK(c.in.in.ended());
    CHECK(c.in.in.epoch() == c.out.epoch());
}

TEST_CASE("random records in random pieces, every mode, both directions, with rekeys") {
    const auto seed = fresh_seed();
    INFO("seed ", seed);
    seeded_random random(seed);
    for (const auto& who : all_parties()) {
        INFO(who.name);
        const auto pad = [&] { return static_cast<std::uint16_t>(random.up_to(max_pad)); };
        const session both = shake_hands(who, random, {.client = pad(), .server = pad()});
        const epoch_limits often{.bytes = 50'000};
        channel up(both.client.c2s, both.server.c2s, role::client, often);
        channel down(both.server.s2c, both.client.s2c, role::server, often);
        send_some(up, random, 100, true);
        send_some(down, random, 100, false);
        deliver_in_random_pieces(up, random);
        deliver_in_random_pieces(down, random);
        check_delivered(up);
        check_delivered(down);
        CHECK(up.out.epoch() >= 3);
        CHECK(down.out.epoch() >= 3);
    }
}

TEST_CASE("the handshake in random pieces, with the first records glued to it") {
    const auto seed = fresh_seed();
    INFO("seed ", seed);
    seeded_random random(seed);
    for (const auto& who : all_parties()) {
        INFO(who.name);
        for (int round = 0; round < 20; ++round) {
            replay_cache cache;
            client_handshake client(who.client, noon, 30, random);
            server_handshake server(who.server, cache, 30, random);
            octets up = copy_of(client.message1());
            const std::size_t length = up.size();
            append(up, octets{1, 2, 3, 4, 5});
            std::size_t at = 0;
            while (server.current() != server_handshake::state::replied) {
                REQUIRE(at < length);
                const std::size_t piece = std::min(1 + random.up_to(60), up.size() - at);
                at += server.feed(crypto::bytes_view(up).subspan(at, piece), noon);
            }
            CHECK(at == length);
            octets down = copy_of(server.message2());
            append(down, octets{6, 7, 8});
            at = 0;
            while (client.current() != client_handshake::state::open) {
                REQUIRE(at < down.size() - 3);
                const std::size_t piece = std::min(1 + random.up_to(60), down.size() - at);
                at += client.feed(crypto::bytes_view(down).subspan(at, piece));
            }
            CHECK(at == down.size() - 3);
            CHECK(std::move(client).split().binding == std::move(server).split().binding);
        }
    }
}

channel upward(epoch_limits limits = {}) {
    return {traffic(), traffic(), role::client, limits};
}

TEST_CASE("a stream in one piece, and byte by byte") {
    seeded_random random(1);
    channel whole = upward();
    send_some(whole, random, 10, true);
    CHECK(whole.in.feed(whole.wire) == error::none);
    check_delivered(whole);

    channel bytes = upward();
    send_some(bytes, random, 10, true);
    CHECK(bytes.in.feed_by_byte(bytes.wire) == error::none);
    check_delivered(bytes);
}

TEST_CASE("rekey by bytes: the record that reaches the limit is the last of its epoch") {
    channel c = upward({.bytes = 1'000});
    c.send(record_type::open, {});
    c.send(record_type::data, octets(999));
    CHECK(c.out.epoch() == 0);
    c.send(record_type::data, octets(1));
    CHECK(c.out.epoch() == 1);
    c.send(record_type::data, octets(5'000));
    CHECK(c.out.epoch() == 2);
    c.send(record_type::data, octets(999));
    CHECK(c.out.epoch() == 2);
    CHECK(c.in.feed(c.wire) == error::none);
    CHECK(c.in.arrived == c.sent);
    CHECK(c.in.in.epoch() == 2);
}

TEST_CASE("rekey by time: the first record 120 s or more after the epoch began") {
    channel c = upward();
    c.send(record_type::open, {});
    c.now += 120s - 1ns;
    c.send(record_type::data, {1});
    CHECK(c.out.epoch() == 0);
    c.now += 1ns;
    c.send(record_type::pad, {});
    CHECK(c.out.epoch() == 1);
    c.now += 120s - 1ns;
    c.send(record_type::data, {2});
    CHECK(c.out.epoch() == 1);
    c.now += 1h;
    c.send(record_type::end, {});
    CHECK(c.out.epoch() == 2);
    CHECK(c.in.feed(c.wire) == error::none);
    CHECK(c.in.in.epoch() == 2);
}

TEST_CASE("an ALERT never carries REKEY, whatever is due") {
    channel c = upward({.bytes = 1, .time = 1s});
    c.out.rekey_with_next();
    c.out.skip_to(epoch_cipher::max_records - 1);
    c.in.in.skip_to(epoch_cipher::max_records - 1);
    c.now += 1h;
    c.send(record_type::alert, {4});
    CHECK(c.out.epoch() == 0);
    CHECK(c.in.feed(c.wire) == error::none);
    CHECK(c.in.arrived == c.sent);
}

TEST_CASE("rekey by count: record 2^32 - 1 is the last of its epoch") {
    for (const bool by_byte : {false, true}) {
        channel c = upward();
        c.send(record_type::open, {});
        CHECK(c.in.feed(c.wire) == error::none);
        c.wire.clear();
        c.out.skip_to(epoch_cipher::max_records - 2);
        c.in.in.skip_to(epoch_cipher::max_records - 2);
        for (std::uint8_t i = 0; i < 4; ++i) c.send(record_type::data, {i});
        CHECK(c.out.epoch() == 1);
        CHECK((by_byte ? c.in.feed_by_byte(c.wire) : c.in.feed(c.wire)) == error::none);
        CHECK(c.in.arrived == c.sent);
        CHECK(c.in.in.epoch() == 1);
        CHECK(c.in.in.index() == 2);
    }
}

TEST_CASE("one end alone at the limit is a fault, not a wrap") {
    channel c = upward();
    c.send(record_type::open, {});
    CHECK(c.in.feed(c.wire) == error::none);
    c.wire.clear();
    c.out.skip_to(epoch_cipher::max_records - 1);
    c.send(record_type::data, octets(1'000));
    append(c.wire, octets(max_payload));
    CHECK(c.in.feed(c.wire) != error::none);
    CHECK(c.in.arrived.size() == 1);
}

TEST_CASE("held and wanted follow the record in hand") {
    channel c = upward();
    c.send(record_type::open, {'a', 'b', 'c'});
    const std::size_t size = c.wire.size();
    CHECK(c.in.in.held() == 0);
    CHECK(c.in.in.wanted() == header_size);
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t known = i < header_size ? header_size : size;
        CHECK(c.in.in.held() == i);
        CHECK(c.in.in.wanted() == known - i);
        REQUIRE(c.in.feed(crypto::bytes_view(c.wire).subspan(i, 1)) == error::none);
    }
    CHECK(c.in.in.held() == 0);
    CHECK(c.in.arrived == c.sent);
}

TEST_CASE("a full batch stops early and loses nothing") {
    channel c = upward();
    c.send(record_type::open, {});
    for (std::uint8_t i = 0; i < 5; ++i) c.send(record_type::data, {i});
    opener in(traffic(), role::server);
    std::vector<opened_record> two(2);
    std::size_t at = 0;
    for (int call = 0; call < 3; ++call) {
        const auto done = in.feed(crypto::bytes(c.wire).subspan(at), two);
        CHECK(done.records == 2);
        CHECK(done.fault == error::none);
        at += done.consumed;
    }
    CHECK(at == c.wire.size());
    CHECK(in.feed(crypto::bytes(c.wire), {}).consumed == 0);
}

TEST_CASE("plaintext stays where its ciphertext was") {
    channel c = upward();
    c.send(record_type::open, {'x'});
    opener in(traffic(), role::server);
    std::array<opened_record, 1> out{};
    REQUIRE(in.feed(c.wire, out).records == 1);
    CHECK(out[0].payload.data() == c.wire.data() + header_size);
    CHECK(copy_of(out[0].payload) == octets{'x'});
}

// A run of slots in one call is what its slots are one by one, epochs included.
TEST_CASE("a run of records is sealed and opened in one call") {
    seeded_random random(fresh_seed());
    for (const std::size_t payload : {std::size_t{1}, std::size_t{1'350}, std::size_t{16'384}}) {
        const epoch_limits limits{.bytes = 5 * payload};
        sealer together(traffic(), role::server, {}, limits);
        sealer singly(traffic(), role::server, {}, limits);
        const octets text = random.bytes(12 * payload + (payload + 1) / 2);
        octets run;
        octets expected;
        for (std::size_t at = 0; at < text.size(); at += payload) {
            const auto part =
                crypto::bytes_view(text).subspan(at).first(std::min(payload, text.size() - at));
            append(run, octets(header_size));
            append(run, part);
            append(run, octets(tag_size));
            append(expected, sealed(singly, record_type::data, part));
        }
        together.seal_data(run, payload, {});
        CHECK(run == expected);
        CHECK(together.epoch() == 2);

        opener in(traffic(), role::client);
        in.open_sent();
        std::array<opened_record, 16> records;
        const auto done = in.feed(run, records);
        CHECK(done.consumed == run.size());
        REQUIRE(done.records == 13);
        octets came;
        for (const auto& record : std::span(records).first(done.records))
            append(came, record.payload);
        CHECK(came == text);
    }
}

}  // namespace
}  // namespace culvert::tests
