// How much may flow: a bucket that fills with time, shared by threads.
#pragma once

#include <atomic>

#include "proxy/carrier/net.hpp"

namespace culvert::relay {

// It counts in time, not in bytes: whoever takes from it knows what a byte costs at his rate, so
// that users of different rates, of an old configuration and a new one, can share it. Takers get
// their turns in the order in which they ask.
class token_bucket {
  public:
    using clock = carrier::clock;

    // Takes `cost`, and says from when on it is there; at most `saved` is there ahead of need.
    [[nodiscard]] clock::time_point take(clock::duration cost, clock::duration saved,
                                         clock::time_point now) noexcept {
        const clock::rep oldest = (now - saved).time_since_epoch().count();
        clock::rep free = free_from_;
        clock::rep start = 0;
        do start = free > oldest ? free : oldest;
        while (!free_from_.compare_exchange_weak(free, start + cost.count()));
        return clock::time_point(clock::duration(start));
    }

    // Takes more at once, however much is there; a negative cost gives back.
    void charge(clock::duration cost) noexcept { free_from_ += cost.count(); }

  private:
    std::atomic<clock::rep> free_from_{0};
};

}  // namespace culvert::relay
