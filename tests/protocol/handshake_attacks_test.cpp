// Attacks by someone who lacks a key or sits on the path: flipped bits, wrong keys, names and
// realms, messages sent back, exchanged or replayed (PROTOCOL.md section 10.4).
#include <doctest/doctest.h>

#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;
using server_state = server_handshake::state;
using client_state = client_handshake::state;

constexpr pads small_pads{.client = 3, .server = 3};

std::size_t fixed_size(const parties& who) {
    return who.client.identity ? 160 : 96;
}

void flip(octets& message, std::size_t bit) {
    message[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
}

void check_silent(const server_handshake& server) {
    CHECK(server.current() == server_state::silent);
    CHECK(server.failure() == error::bad_box);
    CHECK(server.message2().empty());
}

TEST_CASE("each flipped bit of message 1 before its pad ends in silence") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        seeded_random random(1);
        replay_cache cache;
        const client_handshake client(who.client, noon, small_pads.client, random);
        for (std::size_t bit = 0; bit < fixed_size(who) * 8; ++bit) {
            INFO("bit ", bit);
            octets message = copy_of(client.message1());
            flip(message, bit);
            // Each server has a cache of its own: the salt is put there before B and C are read.
            replay_cache own;
            server_handshake server(who.server, own, small_pads.server, random);
            server.feed(message, noon);
            check_silent(server);
        }
    }
}

TEST_CASE("a flipped bit in the pad of message 1 shows at the client, as a wrong D") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        seeded_random random(2);
        for (std::size_t bit = 0; bit < small_pads.client * 8; ++bit) {
            replay_cache cache;
            client_handshake client(who.client, noon, small_pads.client, random);
            octets message = copy_of(client.message1());
            flip(message, fixed_size(who) * 8 + bit);
            server_handshake server(who.server, cache, small_pads.server, random);
            server.feed(message, noon);
            REQUIRE(server.current() == server_state::replied);
            client.feed(server.message2());
            CHECK(client.failure() == error::bad_box);
        }
    }
}

// Message 2 for a client whose random bytes `seed` gives, and that client again and again.
struct answered_client {
    explicit answered_client(const parties& w) : who(w) {
        seeded_random random(3);
        replay_cache cache;
        const client_handshake first = client();
        server_handshake server(who.server, cache, small_pads.server, random);
        server.feed(first.message1(), noon);
        message2 = copy_of(server.message2());
        server_secrets = std::move(server).split();
    }
    [[nodiscard]] client_handshake client() const {
        seeded_random same(4);
        return client_handshake(who.client, noon, small_pads.client, same);
    }

    const parties& who;
    octets message2;
    session_secrets server_secrets;
};

TEST_CASE("each flipped bit of message 2 before its pad fails at the client") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        const answered_client answered(who);
        for (std::size_t bit = 0; bit < 112 * 8; ++bit) {
            INFO("bit ", bit);
            octets message = answered.message2;
            flip(message, bit);
            auto client = answered.client();
            client.feed(message);
            CHECK(client.current() == client_state::failed);
            CHECK(client.failure() == error::bad_box);
        }
        auto unharmed = answered.client();
        unharmed.feed(answered.message2);
        CHECK(unharmed.current() == client_state::open);
    }
}

TEST_CASE("a flipped bit in the pad of message 2 leaves no common secret") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        const answered_client answered(who);
        for (std::size_t bit = 112 * 8; bit < answered.message2.size() * 8; ++bit) {
            octets message = answered.message2;
            flip(message, bit);
            auto client = answered.client();
            client.feed(message);
            REQUIRE(client.current() == client_state::open);
            const auto secrets = std::move(client).split();
            sealer out(secrets.c2s, role::client, {});
            receiver in(answered.server_secrets.c2s, role::server);
            const octets filler(512);  // whatever length the header seems to have
            const octets record = sealed(out, record_type::open, {});
            const auto fault = in.feed(record);
            CHECK((fault != error::none || in.feed(filler) != error::none));
            CHECK(in.arrived.empty());
        }
    }
}

TEST_CASE("every truncation of message 1 is waited for without a word") {
    for (const auto& who : all_parties()) {
        seeded_random random(5);
        const client_handshake client(who.client, noon, small_pads.client, random);
        for (std::size_t size = 0; size < client.message1().size(); ++size) {
            replay_cache cache;
            server_handshake server(who.server, cache, 0, random);
            server.feed(client.message1().first(size), noon);
            CHECK(server.message2().empty());
            CHECK(server.current() != server_state::replied);
            CHECK(server.current() != server_state::silent);
        }
    }
}

// A client and a server of which one has something else.
void check_strangers(const client_keys& client_side, const server_keys& server_side) {
    seeded_random random(6);
    replay_cache cache;
    const client_handshake client(client_side, noon, 0, random);
    server_handshake server(server_side, cache, 0, random);
    server.feed(client.message1(), noon);
    check_silent(server);
    CHECK(cache.size() == 0);
}

octets bytes_of(std::string_view text) {
    return {text.begin(), text.end()};
}

TEST_CASE("another psk, another realm, another server key") {
    check_strangers(client_keys::with_psk(secret_of(2), {}), psk_parties().server);
    check_strangers(client_keys::with_psk(secret_of(1), bytes_of("staging")), psk_parties().server);
    check_strangers(client_keys::with_identity(pair_of(2), pair_of(4).shared), static_server());
    const auto psk = secret_of(1);
    check_strangers(static_parties().client, static_psk_parties().server);
    check_strangers(static_psk_parties().client, static_parties().server);
    const auto other = secret_of(2);
    check_strangers(client_keys::with_identity(pair_of(2), pair_of(3).shared, &other),
                    static_psk_parties().server);
}

TEST_CASE("realms of equal bytes but another border are different") {
    std::vector<crypto::secret<32>> psks;
    psks.push_back(secret_of(1));
    const octets longest(255, 'r');
    const auto server_side = server_keys::with_psks(psks, longest);
    check_strangers(client_keys::with_psk(psks[0], octets(254, 'r')), server_side);
    const parties same{"realm", client_keys::with_psk(psks[0], longest),
                       server_keys::with_psks(psks, longest)};
    seeded_random random(7);
    CHECK_NOTHROW(shake_hands(same, random));
}

TEST_CASE("the name of the mode is part of the keys") {
    // psk mode with the server's key as realm differs from static mode in the name alone.
    const auto psk = secret_of(1);
    check_strangers(client_keys::with_psk(psk, pair_of(3).shared), static_psk_parties().server);
}

TEST_CASE("a client that proves another key than it shows") {
    // Box B shows the key that is in the list, box C is made with another private key.
    const auto who = static_parties();
    key_pair liar = pair_of(5);
    liar.shared = pair_of(2).shared;
    const auto keys = client_keys::with_identity(std::move(liar), pair_of(3).shared);
    seeded_random random(8);
    replay_cache cache;
    const client_handshake client(keys, noon, 0, random);
    server_handshake server(who.server, cache, 0, random);
    server.feed(client.message1(), noon);
    check_silent(server);
}

TEST_CASE("a server that knows the psk and the public keys but has no static private key") {
    const auto who = static_psk_parties();
    key_pair liar = pair_of(5);
    liar.shared = pair_of(3).shared;
    std::vector<crypto::secret<32>> psks;
    psks.push_back(secret_of(1));
    const auto keys = server_keys::with_identity(
        std::move(liar), [](const public_key&) { return true; }, psks);
    seeded_random random(9);
    replay_cache cache;
    const client_handshake client(who.client, noon, 0, random);
    server_handshake server(keys, cache, 0, random);
    server.feed(client.message1(), noon);
    check_silent(server);
}

TEST_CASE("messages sent back to their sender") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        seeded_random random(10);
        replay_cache cache;
        client_handshake client(who.client, noon, 200, random);
        server_handshake server(who.server, cache, 200, random);
        server.feed(client.message1(), noon);
        client.feed(client.message1());
        CHECK(client.failure() == error::bad_box);
        server_handshake other(who.server, cache, 0, random);
        other.feed(server.message2(), noon);
        check_silent(other);
    }
}

TEST_CASE("the answers to two clients, exchanged") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        seeded_random random(11);
        replay_cache cache;
        client_handshake one(who.client, noon, 0, random);
        client_handshake two(who.client, noon, 0, random);
        server_handshake to_one(who.server, cache, 0, random);
        server_handshake to_two(who.server, cache, 0, random);
        to_one.feed(one.message1(), noon);
        to_two.feed(two.message1(), noon);
        one.feed(to_two.message2());
        two.feed(to_one.message2());
        CHECK(one.failure() == error::bad_box);
        CHECK(two.failure() == error::bad_box);
    }
}

TEST_CASE("a replay, in one piece and byte by byte, and the client goes on unharmed") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        seeded_random random(12);
        replay_cache cache;
        client_handshake client(who.client, noon, 9, random);
        const octets message = copy_of(client.message1());
        server_handshake first(who.server, cache, 0, random);
        first.feed(message, noon);
        for (const std::size_t piece : {message.size(), std::size_t{1}}) {
            server_handshake again(who.server, cache, 0, random);
            for (std::size_t at = 0; at < message.size(); at += piece)
                again.feed(crypto::bytes_view(message).subspan(at, piece), noon + 1);
            CHECK(again.current() == server_state::silent);
            CHECK(again.failure() == error::replay);
            CHECK(again.message2().empty());
        }
        client.feed(first.message2());
        CHECK(client.current() == client_state::open);
    }
}

}  // namespace
}  // namespace culvert::tests
