// The constants of a client section, and what its threads share.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "proxy/observe/registry.hpp"
#include "proxy/relay/uplinks.hpp"

namespace culvert::relay {

struct client_context {
    // `before`: the section of that name under older settings; what it knows of its servers is
    // taken over.
    explicit client_context(config::client_settings from,
                            std::shared_ptr<observe::section_counters> counted =
                                std::make_shared<observe::section_counters>(),
                            const client_context* before = nullptr)
        : keys(keys_of(from)),
          settings(config::without_secrets(std::move(from))),
          counters(std::move(counted)),
          servers("client." + settings.name, settings.connect,
                  before != nullptr ? &before->servers : nullptr) {}

    const protocol::client_keys keys;
    const config::client_settings settings;  // without the secret keys
    const std::shared_ptr<observe::section_counters> counters;
    const uplinks servers;
    mutable std::atomic<bool> pool_fails{false};  // for the log: one line when that changes
};

}  // namespace culvert::relay
