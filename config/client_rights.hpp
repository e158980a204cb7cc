// What a client of a list may do, as the words behind its name and key say.
#pragma once

#include <string_view>

#include "config/reason.hpp"
#include "config/settings.hpp"

namespace culvert::config {

inline constexpr std::string_view client_rights_form =
    "[services=A,B] [max-connections=N] [rate=N]";

// The words in any order, each at most once; without a word its right has no bounds. The reason
// shows nothing but what stands behind the '=' of a known word: a key in the wrong place stays out.
result<client_rights> parse_client_rights(std::string_view words);

// Names of clients: 1–255 bytes of A–Z a–z 0–9 . _ - @
bool is_client_name(std::string_view name) noexcept;

}  // namespace culvert::config
