// What had been counted at moments of a run: for plots over time.
#pragma once

#include <chrono>
#include <vector>

#include "bench/tally.hpp"

namespace culvert::load {

// Bounded, however long the run is: when there are too many moments, every second one goes and the
// others are taken half as often from then on.
class timeline {
  public:
    struct moment {
        std::chrono::nanoseconds at;  // since the run began; rises
        totals so_far;
    };

    // When the next one is due after the last.
    [[nodiscard]] std::chrono::milliseconds interval() const noexcept { return interval_; }

    void add(std::chrono::nanoseconds at, const totals& so_far);

    // The first is the begin, at which nothing had been counted.
    [[nodiscard]] const std::vector<moment>& moments() const noexcept { return moments_; }

    static constexpr std::size_t most_moments = 600;

  private:
    std::chrono::milliseconds interval_{100};
    std::vector<moment> moments_{moment{}};
};

}  // namespace culvert::load
