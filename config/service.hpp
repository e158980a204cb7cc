// A service of a server: its name, where it is, and how it is to be treated.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace culvert::config {

// NAME TARGET [TARGET ...] [OPTION=VALUE ...], where a target is HOST:PORT or unix:PATH, relative
// to `folder`. Throws refused.
service parse_service(std::string_view text, const std::filesystem::path& folder);

// The same, written down again.
std::string to_text(const service& of);

}  // namespace culvert::config
