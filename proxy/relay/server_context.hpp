// What the sessions of a server section share.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "config/settings.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/observe/registry.hpp"
#include "proxy/protocol/replay_cache.hpp"
#include "proxy/protocol/server_handshake.hpp"
#include "proxy/relay/backends.hpp"
#include "proxy/relay/unproven.hpp"

namespace culvert::relay {

// Counts the sessions of each key that wait for OPEN.
class waiting_room {
  public:
    explicit waiting_room(std::size_t most) : most_(most) {}
    void set_most(std::size_t most);
    [[nodiscard]] bool enter(const std::string& key);
    void leave(const std::string& key);

  private:
    std::mutex mutex_;
    std::size_t most_;
    std::map<std::string, std::size_t> waiting_;
};

class server_context;

// Who is there at a server section. Goes on when a reload gives the section another context.
struct population {
    explicit population(const config::server_settings& settings);

    const std::shared_ptr<unproven_registry> unproven;
    waiting_room waiting;
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

    // "name" of a key in the list, else empty.
    [[nodiscard]] std::string name_of(const protocol::public_key& key) const;
    // By its name, or the default if that is empty. nullptr: no such service.
    [[nodiscard]] backends* service(std::string_view name) const;
    [[nodiscard]] bool is_proxy(const config::address_bytes& address) const;

    const protocol::server_keys keys;
    const config::server_settings settings;  // without the secret keys
    protocol::replay_cache& replays;
    const std::shared_ptr<observe::section_counters> counters;
    const std::shared_ptr<population> here;
    // In the order of the settings.
    const std::vector<std::unique_ptr<backends>> services;
    mutable observe::log_limit strangers;  // lines about those that have proved nothing
    mutable observe::log_limit evictions;  // and how many of them had to go

  private:
    [[nodiscard]] std::vector<std::unique_ptr<backends>> services_of(
        const server_context* before) const;
    [[nodiscard]] protocol::server_keys keys_of(const config::server_settings& from) const;

    std::map<protocol::public_key, std::string> names_;
};

}  // namespace culvert::relay
