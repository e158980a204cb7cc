// Opens a connection to a configured place: by name, address or unix path.
#pragma once

#include "config/settings.hpp"
#include "proxy/relay/attempt.hpp"
#include "proxy/relay/cancellation.hpp"
#include "proxy/relay/resolver.hpp"

namespace culvert::relay {

struct connected {
    carrier::error_code ec;
    bool resolved = false;  // false: the name did not resolve, or there was no time to
    carrier::stream_socket socket;
};

// Who is behind a name is asked of `names`; several addresses race for it. `by` is for all of it
// together. `cancel`, if there is one, and `names` outlive the call. The socket comes prepared.
// Errors: asio::error::timed_out when `by` came first, operation_aborted when it was cancelled.
carrier::awaitable<connected> connect(carrier::executor ex, const config::endpoint& to,
                                      carrier::time_point by, closing how, resolver& names,
                                      cancellation* cancel = nullptr);

}  // namespace culvert::relay
