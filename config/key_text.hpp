// Keys as text: 64 hex digits, or 44 characters of base64.
#pragma once

#include <string_view>

#include "config/reason.hpp"
#include "config/settings.hpp"

namespace culvert::config {

// Both refuse the wrong length, a foreign character and an all-zero key, and say which of these it
// was without showing any of the text.
result<key> parse_secret_key(std::string_view text);
result<public_key> parse_public_key(std::string_view text);

// 64 lower-case hex digits.
crypto::secret<64> to_hex(const key& from);

}  // namespace culvert::config
