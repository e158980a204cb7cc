// Where a client connects: the value of `connect`, and request targets.
#pragma once

#include <string>
#include <string_view>

#include "config/reason.hpp"
#include "config/settings.hpp"

namespace culvert::config {

// tcp://host:port, ws://host:port or ws://host:port/path.
result<uplink> parse_connect(std::string_view text);
[[nodiscard]] std::string to_text(const uplink& to);

// A WebSocket request target: begins with '/', printable ASCII without '#', at most 1024 bytes.
result<std::string> parse_request_path(std::string_view text);

}  // namespace culvert::config
