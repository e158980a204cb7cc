// What a run has found.
#pragma once

#include "bench/machine.hpp"
#include "bench/tally.hpp"
#include "bench/timeline.hpp"

namespace culvert::load {

struct outcome {
    totals counts;
    histogram latencies;
    failure_list failures;
    std::uint64_t missed = 0;  // latency at a rate: requests whose turn came too late to be sent
    std::chrono::nanoseconds time{0};
    double cpu_seconds = 0;  // of this process, user and system

    load::timeline timeline;                   // of the whole run, counted or not
    std::chrono::nanoseconds counted_from{0};  // where in it the counted time begins
    std::chrono::system_clock::time_point started;
    load::machine machine;  // as it was when the run began
};

}  // namespace culvert::load
