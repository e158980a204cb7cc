// The clients of a server section, by what they have proved.
#pragma once

#include <map>
#include <type_traits>
#include <vector>

#include "config/settings.hpp"
#include "proxy/protocol/server_handshake.hpp"
#include "proxy/relay/client_ledger.hpp"

namespace culvert::relay {

// The public key of a client in static mode, else what its psk is known by.
using client_key = config::public_key;
static_assert(std::is_same_v<client_key, config::key_mark>);

struct known_client {
    std::string name;  // empty where all clients share one psk
    client_key key;
    config::client_rights rights;
    std::shared_ptr<client_account> account;

    [[nodiscard]] bool may_open(const std::string& service) const;
};

class known_clients {
  public:
    known_clients(const config::server_settings& section, client_ledger& ledger);

    // nullptr: nobody here has the key.
    [[nodiscard]] const known_client* find(const client_key& key) const;
    // Whose handshake this is, in state replied.
    [[nodiscard]] const known_client& of(const protocol::server_handshake& done) const;

  private:
    std::vector<known_client> all_;  // in psk mode in the order of the psks
    std::map<client_key, std::size_t> by_key_;
};

}  // namespace culvert::relay
