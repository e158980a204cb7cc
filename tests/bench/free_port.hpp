// Ports for tests, below the range that the kernel draws local ports from: nothing else takes one
// between its being found free and its use.
#pragma once

#include "bench/serve.hpp"

namespace culvert::load::testing {

// 127.0.0.1 with a port that is free now.
config::endpoint free_address();

// A backend on a free port.
serve_plan on_free_port();

}  // namespace culvert::load::testing
