// The handshake, both ends, every mode: nothing that is done depends on a psk, a private key, what
// a Diffie-Hellman operation gives, or what was in the boxes. Public are the messages on the wire,
// the hello and the pad length once their tags have verified, and who the client is once it has
// proved it.
#include <doctest/doctest.h>

#include <utility>

#include "proxy/protocol/client_handshake.hpp"
#include "proxy/protocol/server_handshake.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

constexpr unix_seconds now = 1'800'000'000;

crypto::secret<32> secret_key(std::size_t first) {
    const buffer bytes = concealed(counting(32, first));
    return crypto::secret<32>(exactly<32>(bytes));
}

// A private key that is secret, with its public half.
key_pair pair(std::size_t first) {
    key_pair made = key_pair_of(secret_key(first));
    reveal(made.shared);
    return made;
}

// Whatever is drawn is secret, until it stands on the wire.
class secret_random final : public protocol::random_source {
  public:
    void fill(crypto::bytes out) override {
        for (auto& byte : out) byte = next_++;
        conceal(out);
    }

  private:
    std::uint8_t next_ = 77;
};

struct ends {
    client_keys client;
    server_keys server;
};

ends with_psk() {
    const buffer realm = text("realm");
    const std::array psks{secret_key(9), secret_key(1)};
    return {client_keys::with_psk(psks[1], realm), server_keys::with_psks(psks, realm)};
}

ends with_identities(std::span<const crypto::secret<32>> psks) {
    const auto client = pair(2).shared;
    const auto knows = [client](const public_key& asked) {
        reveal(asked);
        return asked == client;
    };
    return {client_keys::with_identity(pair(2), pair(3).shared, psks.empty() ? nullptr : &psks[0]),
            server_keys::with_identity(pair(3), knows, psks)};
}

ends with_everything() {
    const std::array psks{secret_key(1)};
    return with_identities(psks);
}

buffer on_the_wire(bytes_view message) {
    return revealed({message.begin(), message.end()});
}

void check_secret(const session_secrets& made) {
    CHECK(is_secret(made.c2s.view()));
    CHECK(is_secret(made.s2c.view()));
    const auto keys = made.first_epochs();
    CHECK(is_secret(keys.c2s.subkey.view()));
    CHECK(is_secret(keys.c2s.header_key.view()));
    CHECK(is_secret(keys.s2c.next.view()));
}

void shake_hands(const ends& who, key_stock* stock) {
    secret_random random;
    replay_cache cache;
    client_handshake client(who.client, now, 33, random, stock);
    REQUIRE(client.current() == client_handshake::state::await_d);
    server_handshake server(who.server, cache, 44, random, stock);
    const buffer message1 = on_the_wire(client.message1());
    CHECK(server.feed(message1, now) == message1.size());
    REQUIRE(server.current() == server_handshake::state::replied);
    const buffer message2 = on_the_wire(server.message2());
    CHECK(client.feed(message2) == message2.size());
    REQUIRE(client.current() == client_handshake::state::open);
    const auto at_client = std::move(client).split(), at_server = std::move(server).split();
    check_secret(at_client);
    check_secret(at_server);
    CHECK(at_client.c2s == at_server.c2s);
    CHECK(at_client.s2c == at_server.s2c);
}

// Each box damaged in turn: refusing takes no other way than the tag's verdict.
void refuse(const ends& who) {
    secret_random random;
    for (const std::size_t at : sizes{0, 40, 95, 100, 150}) {
        replay_cache cache;
        client_handshake client(who.client, now, 0, random);
        server_handshake server(who.server, cache, 0, random);
        buffer message1 = on_the_wire(client.message1());
        if (at >= message1.size()) continue;
        message1[at] ^= 1;
        server.feed(message1, now);
        CHECK(server.current() == server_handshake::state::silent);
    }
    for (const std::size_t at : sizes{0, 40, 79, 90}) {
        replay_cache cache;
        client_handshake client(who.client, now, 0, random);
        server_handshake server(who.server, cache, 0, random);
        server.feed(on_the_wire(client.message1()), now);
        buffer message2 = on_the_wire(server.message2());
        message2.at(at) ^= 1;
        client.feed(message2);
        CHECK(client.current() == client_handshake::state::failed);
    }
}

void check_mode(const ends& who) {
    shake_hands(who, nullptr);
    secret_random random;
    key_stock stock;
    while (!stock.full()) stock.make_one(random);
    shake_hands(who, &stock);
    refuse(who);
}

}  // namespace

TEST_SUITE_BEGIN("constant_time.handshake");

TEST_CASE("psk") {
    check_mode(with_psk());
}

TEST_CASE("static keys") {
    check_mode(with_identities({}));
}

TEST_CASE("static keys and psk") {
    check_mode(with_everything());
}

TEST_SUITE_END();

}  // namespace culvert::tests
