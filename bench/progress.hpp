// The line a second on stderr.
#pragma once

#include <string>

#include "bench/plan.hpp"
#include "bench/tally.hpp"

namespace culvert::load {

class progress {
  public:
    // On a terminal the line is written over the one before it.
    progress();

    // Called once a second, with all that has been counted so far.
    void show(const totals& now);
    // Leaves the line.
    void finish();

    // What show() writes: the difference between two counts that are a second apart.
    [[nodiscard]] static std::string line(unsigned second, const totals& before, const totals& now);

  private:
    const bool terminal_;
    totals before_;
    unsigned second_ = 0;
};

}  // namespace culvert::load
