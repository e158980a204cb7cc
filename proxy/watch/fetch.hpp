// The smallest of HTTP clients: one GET, and it waits for the answer.
#pragma once

#include <string>

#include "config/endpoint.hpp"

namespace culvert::watch {

// The body of the answer 200. Waits no longer than some seconds. Throws no_answer.
std::string fetch(const config::endpoint& from, const std::string& path);

}  // namespace culvert::watch
