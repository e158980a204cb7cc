// What can only be judged when a section, or the whole file, has been read.
#pragma once

#include <vector>

#include "config/diagnostic.hpp"
#include "config/section.hpp"
#include "config/settings.hpp"

namespace culvert::config {

// Keys that contradict or lack each other.
void check_daemon(const daemon_settings& daemon, const section_place& place, report& found);
void check_server(const server_settings& server, const section_place& place, report& found);
void check_client(const client_settings& client, const section_place& place, report& found);

struct listen_place {
    endpoint listen;
    unsigned line;
    std::string heading;
    std::string key = "listen";  // that says so
};

// Two sections that cannot both listen: the same address and port, one of them the wildcard of the
// other's family, or the same unix path. 0.0.0.0:P and [::]:P go together.
void check_listens(const std::vector<listen_place>& listens, report& found);

}  // namespace culvert::config
