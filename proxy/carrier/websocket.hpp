// The stream in binary WebSocket messages, on a connection that has been upgraded.
#pragma once

#include <string>

#include "proxy/carrier/carrier.hpp"
#include "proxy/carrier/websocket_frames.hpp"

namespace culvert::carrier {

// `leftover`: bytes that came behind the HTTP header.
std::unique_ptr<carrier> over_websocket(stream_socket socket, websocket::role ours,
                                        std::string leftover);

}  // namespace culvert::carrier
