// Users and groups of this system, by name.
#pragma once

#include <string>

#include "config/reason.hpp"
#include "config/settings.hpp"

namespace culvert::config {

// With the user's primary group. Refused: a name that the system does not know, and user 0, whose
// rights would not be fewer.
result<account> find_user(const std::string& name);

// The number of a group.
result<std::uint32_t> find_group(const std::string& name);

// USER, USER:GROUP or :GROUP, of whoever they may be: the owner of a socket.
result<socket_access> find_owner(const std::string& text);

}  // namespace culvert::config
