// Foreign text made fit for a line of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace culvert::observe {

inline constexpr std::size_t longest_line = 2'000;  // bytes, once escaped

// The text as UTF-8 that moves no cursor: control characters, those of C1 too, line and paragraph
// separators, marks that turn the direction of writing, and bytes that are no UTF-8 stand there as
// \xNN, byte by byte. Text that becomes longer than longest_line is cut, and says so.
std::string printable(std::string_view text);

// The same as a string of JSON, quotes included: at most twice as long.
std::string quoted_json(std::string_view text);

}  // namespace culvert::observe
