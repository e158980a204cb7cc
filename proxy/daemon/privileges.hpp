// Rights that a daemon needs to begin and not to go on.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.hpp"

namespace culvert::daemon {

// Becomes that user for good, with `group` and the other groups that the user is a member of. Does
// nothing in a process that is this user already. Throws std::runtime_error, with the process in
// whatever state it has reached, when that can't be or when root could be had again: such a process
// must end.
void become(const config::account& user, std::uint32_t group);

// The socket at this path, if there is one, comes to belong to that user and group: before
// become(). Throws std::runtime_error.
void give_socket(const std::string& path, std::uint32_t user, std::uint32_t group);

// No capabilities any more. A process of root keeps the one to reach sockets whatever their owner
// and mode, as users of root expect. Throws std::runtime_error.
void drop_capabilities();

// Nothing that this process executes will have more rights than it has: setuid bits do not count.
// Throws std::runtime_error.
void forbid_new_privileges();

}  // namespace culvert::daemon
