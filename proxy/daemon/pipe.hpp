// `culvert pipe`: one session between stdin, a server's service, and stdout.
#pragma once

#include "config/settings.hpp"

namespace culvert::daemon {

// The end of stdin ends that direction alone, and stdout ends when the service has ended its own
// and all of that has verified. Returns 0 when both have; else 1, after a line on stderr that says
// why. As with any pipe, whoever reads stdout sees an end of file in either case: it is the exit
// status that tells them apart. A TCP socket at stdout gets a reset instead.
int pipe(config::client_settings section, bool confined);

}  // namespace culvert::daemon
