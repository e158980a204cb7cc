// The HTTP part of a WebSocket connection (RFC 6455 section 4), by Beast: the request, the answer.
#pragma once

#include <string>
#include <string_view>

#include "proxy/carrier/socket.hpp"

namespace culvert::carrier::websocket {

// A request or answer header may take this many bytes on either side.
inline constexpr std::size_t max_http_header = 8'192;

struct upgrade_result {
    error_code ec;
    bool answered = false;  // server: it was HTTP, and got its 404
    unsigned status = 0;    // client: the answer's HTTP status, 0 when there was none
    std::string leftover;   // bytes that came behind the header: the first of the frames
    // Server, when it is no upgrade:
    bool http = false;     // a whole header came
    bool head = false;     // of a HEAD request
    std::string received;  // all that was read
    [[nodiscard]] bool ok() const noexcept { return !ec; }
};

// Reads a request. An upgrade to `path` is answered with 101; anything else that is HTTP with a
// plain 404 and the end of the connection; what is not HTTP, or too long, with nothing. An offer
// of extensions is not taken up.
awaitable<upgrade_result> accept_upgrade(stream_socket& socket, std::string_view path);

// The same, but says nothing to whoever asks for something else, and reads him no further than to
// the first byte that shows it. decline() is the 404 of those that have asked in HTTP.
awaitable<upgrade_result> await_upgrade(stream_socket& socket, std::string_view path);
awaitable<void> decline(stream_socket& socket, upgrade_result& asked);

// Asks `host` ("name:port") for an upgrade to `path` and checks the answer.
awaitable<upgrade_result> request_upgrade(stream_socket& socket, std::string_view host,
                                          std::string_view path);

}  // namespace culvert::carrier::websocket
