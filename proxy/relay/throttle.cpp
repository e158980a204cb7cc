#include "proxy/relay/throttle.hpp"

#include <algorithm>

#include "proxy/relay/buffer_pool.hpp"

namespace culvert::relay {
namespace {

// A portion is what flows in this time, within bounds: small, so that the sessions of a client take
// turns often, and no smaller than what a system call is worth.
constexpr std::uint64_t portions_a_second = 32;
constexpr std::size_t least_portion = 1'024;

// What an idle client may save up for a burst.
constexpr std::chrono::milliseconds burst{100};

}  // namespace

share::share(const carrier::executor& ex, token_bucket& bucket, std::uint64_t rate)
    : pause(ex),
      bucket_(bucket),
      rate_(rate),
      portion_(static_cast<std::size_t>(
          std::clamp<std::uint64_t>(rate / portions_a_second, least_portion, buffer::size))) {}

// Rounded up: what costs nothing would have no bounds.
carrier::clock::duration share::cost(std::size_t bytes) const noexcept {
    constexpr std::uint64_t second = carrier::clock::duration(std::chrono::seconds{1}).count();
    return carrier::clock::duration((bytes * second + rate_ - 1) / rate_);
}

carrier::time_point share::ready(carrier::time_point now) noexcept {
    if (taken_.count() == 0) {
        taken_ = cost(portion_);
        ready_ = bucket_.take(taken_, burst, now);
    }
    return ready_;
}

void share::settle(std::size_t used) noexcept {
    bucket_.charge(cost(used) - taken_);
    taken_ = {};
}

}  // namespace culvert::relay
