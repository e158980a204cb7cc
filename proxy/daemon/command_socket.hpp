// The control socket of a running daemon: what its administrator asks of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "proxy/daemon/accept.hpp"

namespace culvert::daemon {

// What the commands do; all of it on the executor's thread.
struct commands {
    struct outcome {
        bool good = false;
        std::vector<std::string> lines;  // for whoever asked
    };
    std::function<outcome()> reload;
    std::function<std::vector<int>()> listening;  // the sockets for a successor
    std::function<void()> leave;                  // the successor is ready
};

// Takes connections of this user and of root.
class command_socket {
  public:
    command_socket(const carrier::executor& ex, listening_socket socket, commands what);

    [[nodiscard]] int fd() const noexcept { return accepts_->fd(); }
    void start();
    void close() { accepts_->close(); }
    void hand_over() { accepts_->hand_over(); }
    void give_back() { accepts_->give_back(); }

  private:
    void take(descriptor connection);

    const carrier::executor ex_;
    const std::shared_ptr<const commands> what_;
    const std::shared_ptr<acceptor> accepts_;
};

}  // namespace culvert::daemon
