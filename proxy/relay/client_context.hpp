// The constants of a client section, and what its threads share.
#pragma once

#include <atomic>

#include "proxy/relay/dial.hpp"

namespace culvert::relay {

struct client_context {
    explicit client_context(config::client_settings from)
        : keys(keys_of(from)), settings(config::without_secrets(std::move(from))) {}

    const protocol::client_keys keys;
    const config::client_settings settings;       // without the secret keys
    mutable std::atomic<bool> pool_fails{false};  // for the log: one line when that changes
};

}  // namespace culvert::relay
