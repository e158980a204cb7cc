// Reading the configuration again while the daemon runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace culvert::daemon {

// What the file says now. nullopt, with `mistakes` saying why and on which line, when it can't be
// used. What a running daemon can't change any more is warned about in the log, and is as in
// `running`.
std::optional<config::settings> read_again(const std::filesystem::path& file,
                                           const config::daemon_settings& running,
                                           std::vector<std::string>& mistakes);

// What to do where a reload needs more than this process has kept of its rights; empty when none of
// the mistakes is of that kind.
std::string advice_on(const std::vector<std::string>& mistakes);

}  // namespace culvert::daemon
