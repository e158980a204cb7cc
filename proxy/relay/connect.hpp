// Opens a connection to a configured place: by name, address or unix path.
#pragma once

#include "config/settings.hpp"
#include "proxy/carrier/socket.hpp"

namespace culvert::relay {

struct connected {
    carrier::error_code ec;  // asio::error::timed_out when `by` came first
    bool resolved = false;   // false: the name did not resolve, or there was no time to
    carrier::stream_socket socket;
};

// Tries every address that the name has, in order, until one answers. The socket comes prepared.
carrier::awaitable<connected> connect(const carrier::executor& ex, const config::endpoint& to,
                                      carrier::time_point by);

}  // namespace culvert::relay
