// The status as Prometheus reads it: text format 0.0.4.
#pragma once

#include <string>

#include "proxy/observe/status.hpp"

namespace culvert::observe {

[[nodiscard]] std::string to_prometheus(const status& now);

}  // namespace culvert::observe
