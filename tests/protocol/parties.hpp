// A client and a server that know each other, for each mode, and their handshake in memory.
#pragma once

#include <string>
#include <vector>

#include "proxy/protocol/client_handshake.hpp"
#include "proxy/protocol/server_handshake.hpp"
#include "tests/protocol/random.hpp"

namespace culvert::tests {

using octets = std::vector<std::uint8_t>;

inline constexpr protocol::unix_seconds noon = 1'800'000'000;

inline octets copy_of(crypto::bytes_view in) {
    return {in.begin(), in.end()};
}

inline crypto::secret<32> secret_of(std::uint8_t fill) {
    crypto::secret<32> out;
    for (std::size_t i = 0; i < 32; ++i)
        out.writable()[i] = static_cast<std::uint8_t>(fill + 7 * i);
    return out;
}

inline protocol::key_pair pair_of(std::uint8_t fill) {
    return protocol::key_pair_of(secret_of(fill));
}

struct parties {
    std::string name;
    protocol::client_keys client;
    protocol::server_keys server;
};

inline parties psk_parties() {
    std::vector<crypto::secret<32>> psks;
    psks.push_back(secret_of(1));
    return {"psk", protocol::client_keys::with_psk(psks[0], {}),
            protocol::server_keys::with_psks(psks, {})};
}

inline protocol::server_keys static_server(std::span<const crypto::secret<32>> psks = {}) {
    const auto client = pair_of(2).shared;
    return protocol::server_keys::with_identity(
        pair_of(3), [client](const protocol::public_key& key) { return key == client; }, psks);
}

inline parties static_parties() {
    return {"static", protocol::client_keys::with_identity(pair_of(2), pair_of(3).shared),
            static_server()};
}

inline parties static_psk_parties() {
    std::vector<crypto::secret<32>> psks;
    psks.push_back(secret_of(1));
    return {"static with psk",
            protocol::client_keys::with_identity(pair_of(2), pair_of(3).shared, &psks[0]),
            static_server(psks)};
}

inline std::vector<parties> all_parties() {
    std::vector<parties> all;
    all.push_back(psk_parties());
    all.push_back(static_parties());
    all.push_back(static_psk_parties());
    return all;
}

// Both ends of a handshake that has succeeded.
struct session {
    protocol::session_secrets client;
    protocol::session_secrets server;
};

struct pads {
    std::uint16_t client = 0;
    std::uint16_t server = 0;
};

// Throws when one end does not get through.
inline session shake_hands(const parties& who, protocol::random_source& random, pads pad = {}) {
    protocol::replay_cache cache;
    protocol::client_handshake client(who.client, noon, pad.client, random);
    protocol::server_handshake server(who.server, cache, pad.server, random);
    server.feed(client.message1(), noon);
    client.feed(server.message2());
    if (client.current() != protocol::client_handshake::state::open)
        throw std::runtime_error("the handshake failed");
    return {std::move(client).split(), std::move(server).split()};
}

}  // namespace culvert::tests
