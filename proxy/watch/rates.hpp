// What happened between two readings.
#pragma once

#include <optional>

#include "proxy/watch/reading.hpp"

namespace culvert::watch {

// The time that a share of the handshakes that `now` has and `before` had not took at most; within
// a bucket by proportion. None when there was none.
std::optional<double> quantile(const histogram_reading& before, const histogram_reading& now,
                               double share);

// Of a daemon that was started anew in between, nothing is known.
class rates {
  public:
    rates() = default;
    rates(const reading& before, const reading& now);

    // A second; none where there is nothing to compare with.
    [[nodiscard]] std::optional<double> of(std::uint64_t before, std::uint64_t now) const;
    // Bytes a second of something of that name.
    struct both_ways {
        std::optional<double> to_tunnel;
        std::optional<double> from_tunnel;
    };
    [[nodiscard]] both_ways of(const traffic* before, const traffic& now) const;

    // The reading before, or nullptr.
    [[nodiscard]] const reading* before() const noexcept { return before_; }
    [[nodiscard]] double seconds() const noexcept { return seconds_; }

  private:
    const reading* before_ = nullptr;
    double seconds_ = 0;
};

// The one of that name, or nullptr.
template <class Traffic>
const Traffic* find(const std::vector<Traffic>& among, const std::string& name) {
    for (const Traffic& one : among)
        if (one.name == name) return &one;
    return nullptr;
}

}  // namespace culvert::watch
