// The service manager that started this process, if one did that speaks as systemd does:
// sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "proxy/daemon/descriptor.hpp"
#include "proxy/daemon/sockets_at_hand.hpp"

namespace culvert::daemon {

class service_manager {
  public:
    // Takes what the environment says, and takes it out of there. Once, before there are threads:
    // what is wrong in it is left out.
    service_manager();

    // The sockets that the manager listens on for us; once.
    [[nodiscard]] sockets_at_hand take_sockets() { return std::move(sockets_); }

    void ready(const std::string& status) const { tell("READY=1\nSTATUS=" + status); }
    void reloading() const;
    void stopping(const std::string& status) const { tell("STOPPING=1\nSTATUS=" + status); }
    // For a process that takes another's place, before ready().
    void main_process_is_this() const;

    // It wants to hear alive() at least this often.
    [[nodiscard]] std::optional<std::chrono::microseconds> patience() const noexcept {
        return patience_;
    }
    void alive() const { tell("WATCHDOG=1"); }

  private:
    void tell(const std::string& what) const;

    descriptor socket_{-1};  // connected; none: nobody listens
    sockets_at_hand sockets_;
    std::optional<std::chrono::microseconds> patience_;
};

}  // namespace culvert::daemon
