// The value of `connect`: the servers of a client, one or several a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace culvert::config {

// URL [URL ...] [weight=N] [backup]: what connect.hpp takes, and options for all of them. Throws
// refused.
std::vector<uplink> parse_uplinks(std::string_view text);

// One of them with its options, written down again.
std::string line_of(const uplink& to);

// Whether both lead to the same place in the same way.
[[nodiscard]] bool same_way(const uplink& a, const uplink& b);

}  // namespace culvert::config
