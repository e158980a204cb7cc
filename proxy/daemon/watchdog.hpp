// Tells the service manager that all threads are alive: as long as they are.
#pragma once

#include "proxy/daemon/service_manager.hpp"
#include "proxy/daemon/workers.hpp"

namespace culvert::daemon {

// Runs for as long as its executor does. `patience`: how long the manager waits for a sign of life.
// Both outlive it.
carrier::awaitable<void> watch(workers& staff, const service_manager& manager,
                               std::chrono::microseconds patience);

}  // namespace culvert::daemon
