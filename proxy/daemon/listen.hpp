// Listening sockets: what a configured place stands for, and clear errors when it can't be had.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace culvert::daemon {

// A listening, non-blocking descriptor; closed, and its unix path removed, when it ends.
class listening_socket {
  public:
    explicit listening_socket(int fd) noexcept : fd_(fd) {}
    listening_socket(listening_socket&& other) noexcept;
    listening_socket& operator=(listening_socket&&) = delete;
    ~listening_socket();

    [[nodiscard]] int fd() const noexcept { return fd_; }
    void remove_at_end(std::string unix_path) { unix_path_ = std::move(unix_path); }

  private:
    int fd_;
    std::string unix_path_;
};

// Why it did not work, in words for whoever wrote the configuration.
struct listen_error {
    std::string text;
};

// Every address that a name has gets a socket. [::] means IPv6 alone: 0.0.0.0 may stand beside it.
// A unix path where nobody listens any more is replaced.
boost::system::result<std::vector<listening_socket>, listen_error> listen_on(
    const config::endpoint& place);

}  // namespace culvert::daemon
