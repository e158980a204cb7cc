// What the sessions of a server section share.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/observe/registry.hpp"
#include "proxy/protocol/replay_cache.hpp"
#include "proxy/protocol/server_handshake.hpp"
#include "proxy/relay/backends.hpp"
#include "proxy/relay/known_clients.hpp"
#include "proxy/relay/unproven.hpp"

namespace culvert::relay {

class server_context;

// Who is there at a server section. Goes on when a reload gives the section another context.
struct population {
    explicit population(const config::server_settings& settings);

    const std::shared_ptr<unproven_registry> unproven;
    client_ledger clients;
    std::atomic<std::size_t> sessions{0};           // that have proved their key
    std::atomic<const server_context*> checking{};  // whose health checks are the ones that run
};

// The constants of a server section, and what its sessions on all threads share.
class server_context {
  public:
    // `before`: the context that this one is to replace, whose sessions count here too, and what it
    // knows of the targets of its services.
    server_context(config::server_settings settings, protocol::replay_cache& cache,
                   const server_context* before = nullptr,
                   std::shared_ptr<observe::section_counters> counters =
                       std::make_shared<observe::section_counters>());

    // From now on the caps are those of these settings; of connections without a proof no more than
    // `most_unproven` in all.
    void set_caps(std::size_t most_unproven) const;

    // By its name, or the default if that is empty. nullptr: no such service.
    [[nodiscard]] backends* service(std::string_view name) const;
    [[nodiscard]] bool is_proxy(const config::address_bytes& address) const;

    const std::shared_ptr<population> here;
    const known_clients clients;
    const protocol::server_keys keys;
    const config::server_settings settings;  // without the secret keys
    protocol::replay_cache& replays;
    const std::shared_ptr<observe::section_counters> counters;
    // In the order of the settings.
    const std::vector<std::unique_ptr<backends>> services;
    mutable observe::log_limit strangers;  // lines about those that have proved nothing
    mutable observe::log_limit evictions;  // and how many of them had to go

  private:
    [[nodiscard]] std::vector<std::unique_ptr<backends>> services_of(
        const server_context* before) const;
    [[nodiscard]] protocol::server_keys keys_of(const config::server_settings& from) const;
};

}  // namespace culvert::relay
