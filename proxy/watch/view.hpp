// What a terminal shows of a reading.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "proxy/watch/rates.hpp"
#include "proxy/watch/reading.hpp"

namespace culvert::watch {

// "ready", "draining" or "starting".
const char* state_of(const reading& now) noexcept;

// All of it, with what was counted since the daemon began.
std::vector<std::string> summary(const reading& now);

struct size {
    std::size_t columns;
    std::size_t rows;
};

// Bytes a second, the newest last: nullopt where nothing is known.
using throughput_history = std::deque<std::optional<double>>;

struct frame {
    const reading& now;
    const rates& since;
    const throughput_history& throughput;  // both ways together
    std::string trouble;                   // why there is no newer reading; empty: there is
    bool blocks = true;                    // the terminal has characters for bars
};

// What fits in a screen of that size: as many lines at most, none wider. The most important comes
// first.
std::vector<std::string> screen(const frame& what, size fitting);

}  // namespace culvert::watch
