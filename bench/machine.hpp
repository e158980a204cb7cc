// The machine that a run's figures are measured on.
#pragma once

#include <cstdint>
#include <string>

namespace culvert::load {

struct machine {
    std::string processor;     // as its maker names it
    unsigned processors = 0;   // that this process may use
    std::uint64_t memory = 0;  // bytes
    std::string kernel;        // "Linux 6.1.0"
    double load = 0;           // the load average of the last minute

    [[nodiscard]] std::string text() const;  // all but the load
};

// As it is now.
[[nodiscard]] machine this_machine();

}  // namespace culvert::load
