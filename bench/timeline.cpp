#include "bench/timeline.hpp"

namespace culvert::load {

void timeline::add(std::chrono::nanoseconds at, const totals& so_far) {
    if (at <= moments_.back().at) return;
    if (moments_.size() == most_moments) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < most_moments; i += 2) moments_[kept++] = moments_[i];
        moments_.resize(kept);
        interval_ *= 2;
    }
    moments_.push_back({at, so_far});
}

}  // namespace culvert::load
