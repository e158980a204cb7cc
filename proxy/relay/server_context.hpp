// What the sessions of a server section share.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/protocol/replay_cache.hpp"
#include "proxy/relay/known_clients.hpp"
#include "proxy/relay/unproven.hpp"

namespace culvert::relay {

// The constants of a server section, and what its sessions on all threads share.
class server_context {
  public:
    // A section that was read anew gets the ledger of the one before, so that its counts go on.
    server_context(config::server_settings settings, protocol::replay_cache& cache,
                   std::shared_ptr<client_ledger> ledger = std::make_shared<client_ledger>());

    // nullptr: no such service.
    [[nodiscard]] const config::endpoint* target_of(std::string_view service) const;

    const std::shared_ptr<client_ledger> ledger;
    const known_clients clients;
    const protocol::server_keys keys;
    const config::server_settings settings;  // without the secret keys
    protocol::replay_cache& replays;
    const std::shared_ptr<unproven_registry> unproven;
    mutable observe::log_limit strangers;  // lines about those that have not proved their key
    mutable observe::log_limit evictions;  // and how many of them had to go

  private:
    [[nodiscard]] protocol::server_keys keys_of(const config::server_settings& from) const;
};

}  // namespace culvert::relay
