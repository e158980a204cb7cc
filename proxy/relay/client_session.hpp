// The client end: an application's connection, and the tunnel that is dialled for it.
#pragma once

#include <memory>
#include <optional>

#include "proxy/relay/dial.hpp"
#include "proxy/relay/session.hpp"

namespace culvert::relay {

// The constants of a client section.
struct client_context {
    explicit client_context(config::client_settings from)
        : keys(keys_of(from)), settings(config::without_secrets(std::move(from))) {}

    const protocol::client_keys keys;
    const config::client_settings settings;  // without the secret keys
};

// `plain`: a prepared socket, armed to reset.
std::shared_ptr<session> make_client_session(std::shared_ptr<const client_context> context,
                                             carrier::stream_socket plain, thread_context thread);

}  // namespace culvert::relay
