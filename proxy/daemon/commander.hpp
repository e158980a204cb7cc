// The other end of a control socket: commands to a daemon that runs.
#pragma once

#include <optional>
#include <string>

#include "proxy/daemon/descriptor.hpp"
#include "proxy/daemon/sockets_at_hand.hpp"

namespace culvert::daemon {

class commander {
  public:
    // nullopt, with errno saying why, where no daemon listens. Waits for its answers a minute.
    static std::optional<commander> reach(const std::string& unix_path);

    // Shows what the daemon says, on stderr; true when the configuration is now in force.
    [[nodiscard]] bool reload();

    // The listening sockets of the daemon, which goes on as before until release_it(). Both throw
    // std::runtime_error when the daemon does not answer as one.
    [[nodiscard]] sockets_at_hand take_over();
    void release_it();

  private:
    explicit commander(descriptor wire) : wire_(std::move(wire)) {}

    descriptor wire_;
};

}  // namespace culvert::daemon
