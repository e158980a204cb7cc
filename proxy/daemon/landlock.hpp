// Which files and ports are left to this process, by the kernel's Landlock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace culvert::daemon {

struct reachable {
    std::vector<std::string>
        read_only;  // files, and folders with all below; missing ones are skipped
    std::vector<std::string> sockets;    // folders in which unix sockets may be made and removed
    std::vector<std::uint16_t> connect;  // TCP ports, on any host
    bool any_port = false;               // to listen on and to connect to
};

// Leaves this thread, and those that it will start, no file beyond these, no other TCP port to
// connect to and none to listen on, and no signal or abstract unix socket to a process outside.
// Unix sockets with a path stay reachable: their owner and mode say by whom. Returns the version of
// Landlock that did so, or 0 where the kernel has none; what an older version does not know stays
// open. no_new_privs must be set. Throws std::runtime_error.
int restrict_to(const reachable& places);

}  // namespace culvert::daemon
