// The daemon as a whole: listeners, workers, signals, the drain.
#pragma once

#include "config/settings.hpp"

namespace culvert::daemon {

// Runs until SIGINT or SIGTERM. Then: no new connections, running sessions may end within the
// drain time, a second signal ends them at once. Returns the exit status: 0 when every session
// ended by itself, 1 when some were cut, 2 when it could not start; the log says why.
int run(config::settings settings);

}  // namespace culvert::daemon
