// Listening sockets that are open already: handed down by a service manager, or by the daemon that
// this one replaces.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <vector>

#include "proxy/daemon/descriptor.hpp"

namespace culvert::daemon {

class sockets_at_hand {
  public:
    // Whoever bound a unix socket removes its path in the end; a service manager does so itself.
    enum class path_belongs_to : bool { us, others };

    struct socket {
        descriptor fd;
        path_belongs_to path = path_belongs_to::others;
    };

    // False, with the descriptor closed, for what is no listening socket.
    bool add(descriptor fd, path_belongs_to path);

    void add_all(sockets_at_hand others);

    // The socket that is bound to exactly this address, non-blocking. Each is given once.
    std::optional<socket> take(const sockaddr* address, socklen_t size);

    // Closes those that nobody took, and removes their paths where they are ours. Returns where
    // they listened, as text.
    std::vector<std::string> drop_rest();

  private:
    struct entry {
        std::string address;  // the bytes of a sockaddr
        socket held;
    };

    std::vector<entry> entries_;
};

}  // namespace culvert::daemon
