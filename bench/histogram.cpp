#include "bench/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace culvert::load {

void histogram::record(std::chrono::nanoseconds time) noexcept {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
    ++counts_[index_of(value)];
    ++count_;
    max_ = std::max(max_, value);
}

void histogram::merge(const histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
}

std::chrono::nanoseconds histogram::max() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(max_));
}

std::chrono::nanoseconds histogram::quantile(double q) const noexcept {
    const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
    const std::uint64_t wanted =
        std::clamp<std::uint64_t>(rank, 1, std::max<std::uint64_t>(count_, 1));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        seen += counts_[i];
        if (seen < wanted) continue;
        const std::uint64_t value = std::min(middle_of(i), max_);
        return std::chrono::nanoseconds(static_cast<std::int64_t>(value));
    }
    return max();
}

std::vector<std::uint64_t> histogram::coarse() const {
    std::vector<std::uint64_t> out;
    for (std::size_t i = 0; i < buckets; ++i) {
        if (counts_[i] == 0) continue;
        const auto value = static_cast<double>(std::max<std::uint64_t>(middle_of(i), 1));
        const auto at = static_cast<std::size_t>(std::log2(value) * coarse_per_doubling);
        if (at >= out.size()) out.resize(at + 1);
        out[at] += counts_[i];
    }
    return out;
}

// The top 8 bits of a value choose its bucket, and how many bits were cut off its row of 128.
std::size_t histogram::index_of(std::uint64_t value) noexcept {
    if (value < 2 * half) return value;
    const auto cut = static_cast<unsigned>(std::bit_width(value)) - (bits + 1);
    return cut * half + (value >> cut);
}

std::uint64_t histogram::middle_of(std::size_t index) noexcept {
    if (index < 2 * half) return index;
    const std::size_t cut = index / half - 1;
    const std::uint64_t low = (index - cut * half) << cut;
    return low + (std::uint64_t{1} << (cut - 1));
}

}  // namespace culvert::load
