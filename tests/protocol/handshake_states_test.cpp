// States A, B, P, F, S of the server and D, G, Q of the client (PROTOCOL.md section 7): when they
// change, what they take, and that nothing is said too early.
#include <doctest/doctest.h>

#include "tests/protocol/parties.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;
using server_state = server_handshake::state;
using client_state = client_handshake::state;

constexpr std::size_t static_size = gate_size + box_b_size + box_c_size;

struct fixture {
    explicit fixture(parties p, pads pad = {})
        : who(std::move(p)),
          client(who.client, noon, pad.client, random),
          server(who.server, cache, pad.server, random) {}

    seeded_random random{1};
    parties who;
    replay_cache cache;
    client_handshake client;
    server_handshake server;
};

// Feeds byte `i` of `message` alone.
template <class Handshake>
std::size_t feed_server_byte(Handshake& server, const octets& message, std::size_t i) {
    return server.feed(crypto::bytes_view(message).subspan(i, 1), noon);
}

TEST_CASE("the server, psk: A until 96 bytes, P until the pad, then F with all of message 2") {
    fixture t(psk_parties(), {.client = 7, .server = 5});
    const octets message = copy_of(t.client.message1());
    REQUIRE(message.size() == gate_size + 7);
    for (std::size_t i = 0; i < message.size(); ++i) {
        CHECK(t.server.current() ==
              (i < gate_size ? server_state::await_a : server_state::await_pad));
        CHECK(t.server.message2().empty());
        CHECK(feed_server_byte(t.server, message, i) == 1);
    }
    CHECK(t.server.current() == server_state::replied);
    CHECK(t.server.message2().size() == 112 + 5);
}

TEST_CASE("the server, static: A, B until 160 bytes, P, F") {
    fixture t(static_parties(), {.client = 7, .server = 5});
    const octets message = copy_of(t.client.message1());
    REQUIRE(message.size() == static_size + 7);
    for (std::size_t i = 0; i < message.size(); ++i) {
        const auto expected = i < gate_size     ? server_state::await_a
                              : i < static_size ? server_state::await_bc
                                                : server_state::await_pad;
        CHECK(t.server.current() == expected);
        CHECK(t.server.message2().empty());
        CHECK_FALSE(t.server.client());
        CHECK(feed_server_byte(t.server, message, i) == 1);
        if (i + 1 == static_size) break;
    }
    CHECK(t.server.client() == pair_of(2).shared);
    CHECK(t.server.current() == server_state::await_pad);
    CHECK(t.server.feed(crypto::bytes_view(message).subspan(static_size), noon) == 7);
    CHECK(t.server.current() == server_state::replied);
}

TEST_CASE("an empty pad needs no further byte") {
    for (auto& who : all_parties()) {
        INFO(who.name);
        fixture t(std::move(who));
        CHECK(t.server.feed(t.client.message1(), noon) == t.client.message1().size());
        CHECK(t.server.current() == server_state::replied);
        CHECK(t.server.message2().size() == 112);
        CHECK(t.client.feed(t.server.message2()) == 112);
        CHECK(t.client.current() == client_state::open);
    }
}

TEST_CASE("bytes behind message 1 belong to the records") {
    for (auto& who : all_parties()) {
        INFO(who.name);
        fixture t(std::move(who), {.client = max_pad, .server = 0});
        octets stream = copy_of(t.client.message1());
        const std::size_t size = stream.size();
        stream.resize(size + 24, 0xab);
        CHECK(t.server.feed(stream, noon) == size);
        CHECK(t.server.current() == server_state::replied);
        CHECK(t.server.feed(stream, noon) == 0);
    }
}

TEST_CASE("a silent server takes everything, never leaves, never writes") {
    for (auto& who : all_parties()) {
        INFO(who.name);
        fixture t(std::move(who));
        octets wrong = copy_of(t.client.message1());
        wrong[40] ^= 1;
        CHECK(t.server.feed(wrong, noon) == wrong.size());
        for (int i = 0; i < 3; ++i) {
            CHECK(t.server.current() == server_state::silent);
            CHECK(t.server.failure() == error::bad_box);
            CHECK(t.server.message2().empty());
            CHECK(t.server.feed(t.client.message1(), noon) == t.client.message1().size());
        }
    }
}

TEST_CASE("any opening of random bytes leads to silence at byte 96 and not before") {
    seeded_random noise(7);
    for (const std::size_t size : {0U, 1U, 95U, 96U, 97U, 160U, 300U, 4096U}) {
        fixture t(psk_parties());
        const octets opening = noise.bytes(size);
        CHECK(t.server.feed(opening, noon) == size);
        CHECK(t.server.current() == (size < 96 ? server_state::await_a : server_state::silent));
        CHECK(t.server.message2().empty());
    }
}

TEST_CASE("the client: D until 80 bytes, G until 112, Q until the pad, open") {
    for (auto& who : all_parties()) {
        INFO(who.name);
        fixture t(std::move(who), {.client = 0, .server = 7});
        t.server.feed(t.client.message1(), noon);
        const octets message = copy_of(t.server.message2());
        REQUIRE(message.size() == 112 + 7);
        for (std::size_t i = 0; i < message.size(); ++i) {
            const auto expected = i < 80    ? client_state::await_d
                                  : i < 112 ? client_state::await_f
                                            : client_state::await_pad;
            CHECK(t.client.current() == expected);
            CHECK(t.client.feed(crypto::bytes_view(message).subspan(i, 1)) == 1);
        }
        CHECK(t.client.current() == client_state::open);
    }
}

TEST_CASE("bytes behind message 2 belong to the records") {
    fixture t(psk_parties(), {.client = 0, .server = max_pad});
    t.server.feed(t.client.message1(), noon);
    octets stream = copy_of(t.server.message2());
    const std::size_t size = stream.size();
    REQUIRE(size == 112 + max_pad);
    stream.resize(size + 24, 0xab);
    CHECK(t.client.feed(stream) == size);
    CHECK(t.client.feed(stream) == 0);
}

TEST_CASE("a failed client takes nothing more and has no message 1 left") {
    fixture t(psk_parties());
    t.server.feed(t.client.message1(), noon);
    octets wrong = copy_of(t.server.message2());
    wrong[100] ^= 1;
    t.client.feed(wrong);
    CHECK(t.client.current() == client_state::failed);
    CHECK(t.client.failure() == error::bad_box);
    CHECK(t.client.feed(t.server.message2()) == 0);
    CHECK(t.client.message1().empty());
}

TEST_CASE("the server tells which of 16 psks a client used") {
    std::vector<crypto::secret<32>> psks;
    for (std::uint8_t i = 0; i < max_psks; ++i)
        psks.push_back(secret_of(static_cast<std::uint8_t>(10 * i)));
    const auto server_side = server_keys::with_psks(psks, {});
    seeded_random random(3);
    replay_cache cache;
    for (std::size_t i = 0; i < max_psks; ++i) {
        const auto client_side = client_keys::with_psk(psks[i], {});
        client_handshake client(client_side, noon, 0, random);
        server_handshake server(server_side, cache, 0, random);
        server.feed(client.message1(), noon);
        REQUIRE(server.current() == server_state::replied);
        CHECK(server.psk_index() == i);
        client.feed(server.message2());
        CHECK(client.current() == client_state::open);
    }
    const auto stranger_side = client_keys::with_psk(secret_of(251), {});
    client_handshake stranger(stranger_side, noon, 0, random);
    server_handshake server(server_side, cache, 0, random);
    server.feed(stranger.message1(), noon);
    CHECK(server.failure() == error::bad_box);
}

TEST_CASE("both ends agree on secrets and binding, and directions differ") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        seeded_random random(4);
        const session both = shake_hands(who, random, {.client = 100, .server = 200});
        CHECK(both.client.c2s == both.server.c2s);
        CHECK(both.client.s2c == both.server.s2c);
        CHECK(both.client.binding == both.server.binding);
        CHECK_FALSE(both.client.c2s == both.client.s2c);
    }
}

}  // namespace
}  // namespace culvert::tests
