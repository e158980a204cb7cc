// Foreign text made fit for a message.
#pragma once

#include <string>
#include <string_view>

namespace culvert::config {

// The text in single quotes, cut after 80 bytes, with every byte that is not printable ASCII as
// \xNN: a file of junk must not steer the terminal that shows its mistakes.
std::string quote(std::string_view text);

}  // namespace culvert::config
