// The status as /status.json gives it: STATUS.md.
#pragma once

#include <string>

#include "proxy/observe/status.hpp"

namespace culvert::observe {

[[nodiscard]] std::string to_json(const status& now);

}  // namespace culvert::observe
