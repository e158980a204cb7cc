// A client section from the words of a command line.
#pragma once

#include <span>
#include <string>

#include "config/load.hpp"

namespace culvert::config {

// Each word is --KEY=VALUE, or --KEY with the value as the next word; the keys are those of
// [client.NAME] that say how a server is reached. One word without dashes is the service. Relative
// paths count from the folder in which the process runs. The answer holds one client section.
loaded parse_client_words(std::span<const std::string> words);

}  // namespace culvert::config
