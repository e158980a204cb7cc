// The daemon as a whole: listeners, workers, signals, reload, the drain.
#pragma once

#include <filesystem>

#include "config/settings.hpp"

namespace culvert::daemon {

struct start {
    std::filesystem::path file;  // the settings' own: read again at a reload
    bool replace = false;        // take the place of the daemon at settings.daemon.control
};

// Runs until SIGINT or SIGTERM. Then: no new connections, running sessions may end within the
// drain time, a second signal ends them at once. SIGHUP has the file read again. Returns the exit
// status: 0 when every session ended by itself, 1 when some were cut, 2 when it could not start;
// the log says why.
int run(config::settings settings, const start& how);

}  // namespace culvert::daemon
