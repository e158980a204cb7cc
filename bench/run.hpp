// A whole run: threads, progress, signals, and what came of it.
#pragma once

#include "bench/outcome.hpp"
#include "bench/plan.hpp"

namespace culvert::load {

// SIGINT and SIGTERM end the run early; a later second one does not wait for what is under way.
// Reports on stderr once a second, unless the plan is quiet.
outcome run(const plan& what);

}  // namespace culvert::load
