// Foreign text made fit for a message.
#pragma once

#include <string>
#include <string_view>

namespace culvert::config {

// The text with every byte that is not printable ASCII as \xNN: a file of junk must not steer the
// terminal that shows its mistakes.
std::string escaped(std::string_view text);

// The same in single quotes, cut after 80 bytes.
std::string quote(std::string_view text);

}  // namespace culvert::config
