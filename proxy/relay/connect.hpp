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

// How the socket is to close if nothing else is said until then, be it because the process died.
enum class closing : std::uint8_t { quiet, reset };

// Tries every address that the name has, in order, until one answers. The socket comes prepared.
carrier::awaitable<connected> connect(carrier::executor ex, const config::endpoint& to,
                                      carrier::time_point by, closing how = closing::quiet);

}  // namespace culvert::relay
