// A report of runs as one HTML file that needs nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/html/plot.hpp"
#include "bench/html/record.hpp"

namespace culvert::load::html {

inline constexpr std::size_t most_runs = colours;

// One run, or several side by side of which the first is what the others are compared with.
std::string page(const std::vector<record>& runs);

// The style sheet of the page.
extern const char* const style;

}  // namespace culvert::load::html
