// What a client says first on a session: OPEN, and with it what the application has said already.
#pragma once

#include <string>

#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/established.hpp"

namespace culvert::relay {

// So much of the stream goes with OPEN: together they fill one TCP segment at most.
[[nodiscard]] std::size_t room_beside_open(const std::string& service) noexcept;

// Seals OPEN for `service` and then `stream`, 64 KiB at most, and writes all in one go. Throws
// session_end.
awaitable<void> open_with(established& session, const std::string& service, bytes_view stream,
                          buffer_pool& buffers);

}  // namespace culvert::relay
