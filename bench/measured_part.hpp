// The part of a run that is measured, when connecting and closing shall not count.
#pragma once

#include <mutex>

#include "bench/stream.hpp"

namespace culvert::load {

// Seconds of processor that this process has used, user and system.
double cpu_seconds_so_far() noexcept;

// Shared by the threads of a run. Each says when its own part begins and ends; the part of all
// lasts from the last beginning to the first end.
class measured_part {
  public:
    // With `tell`, a line "begin" and a line "end" go to stderr at these moments, for a program
    // that measures others meanwhile.
    measured_part(unsigned threads, bool tell) noexcept : threads_(threads), tell_(tell) {}

    void begin();
    void end();

    // When it began; only if it has.
    [[nodiscard]] carrier::time_point began() const noexcept { return began_; }
    // Both are 0 unless the part has begun and ended. Once the threads have ended.
    [[nodiscard]] std::chrono::nanoseconds time() const noexcept { return ended_ - began_; }
    [[nodiscard]] double cpu_seconds() const noexcept { return cpu_at_end_ - cpu_at_begin_; }

  private:
    void tell(const char* line) const;

    const unsigned threads_;
    const bool tell_;
    std::mutex mutex_;
    unsigned begun_ = 0;
    bool over_ = false;
    carrier::time_point began_;
    carrier::time_point ended_;
    double cpu_at_begin_ = 0;
    double cpu_at_end_ = 0;
};

}  // namespace culvert::load
