// The file that lists the clients of a server in static mode: a name, a public key and rights a
// line.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"
#include "config/reason.hpp"
#include "config/settings.hpp"

namespace culvert::config {

struct client_list {
    std::vector<named_client> clients;
    std::vector<diagnostic> mistakes;  // with this file's own name and lines
};

// Lines and comments are those of the configuration, names and rights those of client_rights.hpp.
// Neither a name nor a key may stand there twice. An empty list is a mistake.
client_list parse_client_list(std::string_view text, const std::filesystem::path& file);

// Refused when it cannot be read.
result<client_list> read_client_list(const std::filesystem::path& file);

}  // namespace culvert::config
