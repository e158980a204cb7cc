// Latencies counted in log-linear buckets, as HdrHistogram does: any quantile to within 0.4 %.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <vector>

namespace culvert::load {

// Fixed memory (58 KiB) whatever is recorded. One histogram a thread; they are merged at the end.
class histogram {
  public:
    // Negative times count as 0.
    void record(std::chrono::nanoseconds time) noexcept;
    void merge(const histogram& other) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::chrono::nanoseconds max() const noexcept;  // exact; 0 when empty
    // For a plot: how many times fall into each bucket of a coarser scale, 8 buckets a doubling.
    // Bucket i holds those from 2^(i/8) ns to 2^((i+1)/8) ns, the first one the shorter ones too.
    static constexpr unsigned coarse_per_doubling = 8;
    [[nodiscard]] std::vector<std::uint64_t> coarse() const;

    // The smallest time that a share of `q`, 0 … 1, of all do not exceed; 0 when empty.
    [[nodiscard]] std::chrono::nanoseconds quantile(double q) const noexcept;

  private:
    // Below 2^8 ns each value has a bucket of its own. Above, every power of two is divided into
    // 128 buckets of equal width, at most 1/128 of the value.
    static constexpr unsigned bits = 7;
    static constexpr std::uint64_t half = std::uint64_t{1} << bits;
    static constexpr std::size_t buckets = (64 - bits + 1) * half;

    static std::size_t index_of(std::uint64_t value) noexcept;
    static std::uint64_t middle_of(std::size_t index) noexcept;

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace culvert::load
