// The place of the configuration's `admin`, and what answers there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/admin/server.hpp"
#include "proxy/daemon/accept.hpp"

namespace culvert::daemon {

// On the thread of its executor, which carries no sessions. Without `admin` nothing happens.
class admin_listener {
  public:
    admin_listener(carrier::executor ex, const config::daemon_settings& options,
                   std::function<observe::status()> now);

    // Why the place can't be had, if so. Before the process confines itself.
    [[nodiscard]] std::optional<std::string> listen(sockets_at_hand& at_hand);
    [[nodiscard]] std::vector<int> listening() const;
    void start();
    void stop();
    // For a process whose successor has the sockets: whoever is here still gets his answer.
    void hand_over();
    // Before start(): a socket that was at hand is still where it came from.
    void give_back() { end(&acceptor::give_back); }

    // Descriptors that it may come to have open.
    [[nodiscard]] std::size_t descriptors() const noexcept;

  private:
    void end(void (acceptor::*how)());

    const carrier::executor ex_;
    const std::optional<config::endpoint> place_;
    const std::shared_ptr<admin::server> server_;
    std::vector<std::shared_ptr<acceptor>> acceptors_;
};

}  // namespace culvert::daemon
