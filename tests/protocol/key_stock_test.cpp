// Ephemeral keys made ahead: each serves once, and handshakes that use them agree.
#include "proxy/protocol/key_stock.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>

#include "tests/protocol/parties.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

TEST_CASE("no pair comes twice, and the halves belong together") {
    key_stock stock;
    std::set<public_key> seen;
    for (int round = 0; round < 3; ++round) {
        while (!stock.full()) stock.make_one(system_random());
        while (!stock.empty()) {
            const key_pair pair = stock.take();
            CHECK(pair.shared == public_key_of(*pair.secret));
            CHECK(seen.insert(pair.shared).second);
        }
    }
    CHECK(seen.size() == 3 * key_stock::most);
}

TEST_CASE("an empty stock, or none, is no obstacle") {
    seeded_random random(1);
    key_stock stock;
    const key_pair from_empty = draw_ephemeral(&stock, random);
    const key_pair from_none = draw_ephemeral(nullptr, random);
    CHECK(from_empty.shared == public_key_of(*from_empty.secret));
    CHECK(from_empty.shared != from_none.shared);
    CHECK(stock.empty());
}

TEST_CASE("what is taken is not in the stock any more") {
    key_stock stock;
    stock.make_one(system_random());
    const key_pair pair = draw_ephemeral(&stock, system_random());
    CHECK(stock.empty());
    CHECK_FALSE(pair.secret->is_zero());
}

TEST_CASE("both ends of a handshake may take theirs from a stock, in each mode") {
    for (const parties& who : all_parties()) {
        CAPTURE(who.name);
        key_stock ours;
        key_stock theirs;
        replay_cache cache;
        ours.make_one(system_random());
        theirs.make_one(system_random());
        client_handshake client(who.client, noon, 0, system_random(), &ours);
        server_handshake server(who.server, cache, 0, system_random(), &theirs);
        CHECK(ours.empty());
        server.feed(client.message1(), noon);
        CHECK(theirs.empty());
        client.feed(server.message2());
        REQUIRE(client.current() == client_handshake::state::open);
        CHECK(std::move(client).split().c2s == std::move(server).split().c2s);
    }
}

TEST_CASE("a stranger takes nothing from the server's stock") {
    const auto who = psk_parties();
    key_stock stock;
    stock.make_one(system_random());
    replay_cache cache;
    server_handshake server(who.server, cache, 0, system_random(), &stock);
    server.feed(octets(500, 0x41), noon);
    REQUIRE(server.current() == server_handshake::state::silent);
    CHECK_FALSE(stock.empty());
}

}  // namespace
}  // namespace culvert::tests
