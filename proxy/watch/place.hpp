// Where the admin listener of a daemon is.
#pragma once

#include <string>

#include "config/endpoint.hpp"

namespace culvert::watch {

// What is read when the command line names nothing.
inline constexpr auto usual_file = "/etc/culvert/culvert.conf";

// `word`: a configuration file, whose key `admin` counts, http://HOST:PORT, HOST:PORT, a port or
// unix:PATH. Throws no_place.
config::endpoint find_admin(const std::string& word);

}  // namespace culvert::watch
