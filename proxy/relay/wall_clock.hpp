// The time of day, as the handshake has it.
#pragma once

#include <chrono>

#include "proxy/protocol/handshake.hpp"

namespace culvert::relay {

[[nodiscard]] inline protocol::unix_seconds unix_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<protocol::unix_seconds>(
        std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace culvert::relay
