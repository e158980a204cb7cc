// One try to connect to one address.
#pragma once

#include "proxy/carrier/socket.hpp"

namespace culvert::relay {

using stream_endpoint = carrier::asio::generic::stream_protocol::endpoint;

// How the socket is to close if nothing else is said until then, be it because the process died.
enum class closing : std::uint8_t { quiet, reset };

class attempt {
  public:
    attempt(const carrier::executor& ex, const stream_endpoint& to, closing how)
        : address_(to), how_(how), socket_(ex) {}

    // asio::error::in_progress: the socket tells when it is writable; settle() says what came of
    // it.
    [[nodiscard]] carrier::error_code begin();
    [[nodiscard]] carrier::error_code settle();

    // Closes without a word, also where nobody wants the connection any more.
    void give_up() noexcept;

    [[nodiscard]] carrier::stream_socket& socket() noexcept { return socket_; }

  private:
    stream_endpoint address_;
    closing how_;
    carrier::stream_socket socket_;
};

}  // namespace culvert::relay
