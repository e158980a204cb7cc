// The plots of a report.
#pragma once

#include <string>
#include <vector>

#include "bench/html/record.hpp"

namespace culvert::load::html {

// Over the time of the runs: throughput, answers, open connections, failures; each where a run has
// something of it to show. All runs begin at 0.
std::string plots_over_time(const std::vector<record>& runs);

// How latencies are distributed. Empty when no run has measured any.
std::string plots_of_latency(const std::vector<record>& runs);

}  // namespace culvert::load::html
