// The tables of a report: figures of runs side by side, and where they come from.
#pragma once

#include <string>
#include <vector>

#include "bench/html/record.hpp"

namespace culvert::load::html {

// Bytes both ways, and answers, a second of the counted time.
double mib_per_second(const record& run) noexcept;
double requests_per_second(const record& run) noexcept;

// All below show as many runs as there are; the first is what the others are compared with.

// The few figures that matter most; of one run.
std::string headline(const record& run);
std::string figures_table(const std::vector<record>& runs);
// When, where and how; rows that differ are marked.
std::string setup_table(const std::vector<record>& runs);
// Empty when there are none.
std::string errors_table(const std::vector<record>& runs);

}  // namespace culvert::load::html
