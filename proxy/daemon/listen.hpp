// Listening sockets: what a configured place stands for, and clear errors when it can't be had.
#pragma once

#include <sys/types.h>

#include <boost/system/result.hpp>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/daemon/sockets_at_hand.hpp"

namespace culvert::daemon {

// A listening, non-blocking descriptor; closed, and its unix path removed, when it ends. A path
// where another socket has come to stand in the meantime is left alone.
class listening_socket {
  public:
    explicit listening_socket(int fd) noexcept : fd_(fd) {}
    listening_socket(listening_socket&& other) noexcept;
    listening_socket& operator=(listening_socket&&) = delete;
    ~listening_socket();

    [[nodiscard]] int fd() const noexcept { return fd_; }
    // The descriptor is bound to the path.
    void remove_at_end(std::string unix_path);
    // It was at hand, and is somebody else's still: his is the path.
    void was_at_hand() noexcept { at_hand_ = true; }
    void give_back() noexcept {
        if (at_hand_) unix_path_.clear();
    }
    // Another process listens there from now on.
    void leave_path() noexcept { unix_path_.clear(); }

  private:
    void remove_path() const noexcept;

    int fd_;
    std::string unix_path_;
    dev_t device_ = 0;  // where the path's file is, and which it is
    ino_t file_ = 0;
    bool at_hand_ = false;
};

// Why it did not work, in words for whoever wrote the configuration.
struct listen_error {
    std::string text;
};

// Every address that a name has gets a socket, one of those at hand if it is among them. [::] means
// IPv6 alone: 0.0.0.0 may stand beside it. A unix path where nobody listens any more is replaced.
boost::system::result<std::vector<listening_socket>, listen_error> listen_on(
    const config::endpoint& place, sockets_at_hand& at_hand);

// The same for the unix socket that commands to the daemon come in by: messages, not a stream, and
// for this user and root alone.
boost::system::result<listening_socket, listen_error> listen_for_commands(
    const config::endpoint& place, sockets_at_hand& at_hand);

}  // namespace culvert::daemon
