// The heading of a section: [daemon], [server.NAME] or [client.NAME].
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/tables.hpp"

namespace culvert::config {

struct section_heading {
    std::optional<section_kind> kind;  // despite a mistake, if it can be guessed
    std::string name;                  // empty for daemon
    std::string mistake;               // empty = none
};

// `body` begins with '['.
section_heading parse_heading(std::string_view body);

// [daemon], [server.NAME]
std::string to_text(section_kind kind, std::string_view name);

}  // namespace culvert::config
