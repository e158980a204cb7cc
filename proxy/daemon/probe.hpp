// `culvert probe`: goes the way of a client section and says how far it came.
#pragma once

#include <string>

#include "config/settings.hpp"

namespace culvert::daemon {

// Prints a line a stage, and what to check where it stopped. Returns 0 when the server took OPEN
// and connected the service, as far as that can be seen, else 1.
int probe(const config::client_settings& section);

}  // namespace culvert::daemon
