// The daemon gives up what it needs no more, before it hears the first stranger.
#pragma once

#include <filesystem>
#include <vector>

#include "config/settings.hpp"

namespace culvert::daemon {

// What the sections need of the machine once they listen.
struct needs {
    std::vector<config::endpoint> listen;
    std::vector<config::endpoint> connect;
    std::vector<std::filesystem::path> files;  // that a reload reads again
};

// Becomes the configured user, drops capabilities, and confines itself to the files and system
// calls that are needed from here on: these bind every thread that comes later, so no other may
// have been started. Left for a reload: the folders that the configuration's files are in, and any
// port; with sandbox = strict neither. What the kernel can't do is said in the log and left out.
// Throws std::runtime_error when the user can't be become.
void confine(const config::daemon_settings& options, const needs& sections);

}  // namespace culvert::daemon
