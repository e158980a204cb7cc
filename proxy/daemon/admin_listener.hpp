// The place of the configuration's `admin`, and what answers there.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "config/settings.hpp"
#include "proxy/admin/server.hpp"
#include "proxy/daemon/accept.hpp"

namespace culvert::daemon {

// On the thread of its executor, which carries no sessions. Without `admin` nothing happens.
class admin_listener {
  public:
    admin_listener(carrier::executor ex, const config::daemon_settings& options,
                   std::function<observe::status()> now);
    ~admin_listener();

    // False, with a line of the log, when the place can't be had. Before the process confines
    // itself.
    [[nodiscard]] bool listen();
    void start();
    void stop();

    // Descriptors that it may come to have open.
    [[nodiscard]] std::size_t descriptors() const noexcept;

  private:
    const carrier::executor ex_;
    const std::optional<config::endpoint> place_;
    const std::shared_ptr<admin::server> server_;
    std::deque<acceptor> acceptors_;
};

}  // namespace culvert::daemon
