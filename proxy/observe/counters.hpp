// Numbers that sessions add to while they run: each thread has its own, and who reads adds them up.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace culvert::observe {

// One thread adds, any thread reads: no lock, and no instruction that locks.
class counter {
  public:
    void add(std::uint64_t more = 1) noexcept {
        value_.store(value() + more, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> value_{0};
};

// A T for each thread, on cache lines of its own.
template <class T>
class per_thread {
  public:
    explicit per_thread(std::size_t threads)
        : threads_(std::max<std::size_t>(1, threads)), slots_(std::make_unique<slot[]>(threads_)) {}

    [[nodiscard]] T& of(std::size_t thread) noexcept { return slots_[thread % threads_].value; }

    // Of what `what` finds in each.
    template <class What>
    [[nodiscard]] std::uint64_t sum(What what) const {
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < threads_; ++i) all += what(slots_[i].value);
        return all;
    }

  private:
    struct alignas(64) slot {
        T value;
    };

    std::size_t threads_;
    std::unique_ptr<slot[]> slots_;
};

// Sessions of one kind, and the bytes of their streams.
struct traffic_counters {
    counter began;
    counter ended;
    counter to_tunnel;
    counter from_tunnel;
};

// How long handshakes took.
class handshake_counters {
  public:
    // Upper ends; the last bucket has none.
    static constexpr std::array<double, 14> ends_s{.0005, .001, .0025, .005, .01, .025, .05,
                                                   .1,    .25,  .5,    1,    2.5, 5,    10};

    void add(std::chrono::nanoseconds took) noexcept {
        const double seconds = std::chrono::duration<double>(took).count();
        const auto* const at = std::lower_bound(ends_s.begin(), ends_s.end(), seconds);
        buckets_[static_cast<std::size_t>(at - ends_s.begin())].add();
        sum_ns_.add(static_cast<std::uint64_t>(took.count()));
    }
    [[nodiscard]] std::uint64_t in_bucket(std::size_t i) const noexcept {
        return buckets_[i].value();
    }
    [[nodiscard]] std::uint64_t sum_ns() const noexcept { return sum_ns_.value(); }

  private:
    std::array<counter, ends_s.size() + 1> buckets_;
    counter sum_ns_;
};

// Counts one session, and its bytes as they move, for its service and, where he has a name, for its
// client. On the session's thread.
class meter {
  public:
    meter() = default;
    meter(const meter&) = delete;
    meter& operator=(const meter&) = delete;
    ~meter() {
        for (traffic_counters* const into : counts_)
            if (into != nullptr) into->ended.add();
    }

    // Once. Both outlive the meter.
    void begin(traffic_counters& service, traffic_counters* client = nullptr) noexcept {
        counts_ = {&service, client};
        for (traffic_counters* const into : counts_)
            if (into != nullptr) into->began.add();
    }

    void to_tunnel(std::uint64_t bytes) noexcept {
        const std::uint64_t said_before = std::min(bytes, again_);
        again_ -= said_before;
        sent_ += bytes - said_before;
        for (traffic_counters* const into : counts_)
            if (into != nullptr) into->to_tunnel.add(bytes - said_before);
    }
    void from_tunnel(std::uint64_t bytes) noexcept {
        for (traffic_counters* const into : counts_)
            if (into != nullptr) into->from_tunnel.add(bytes);
    }

    // What has gone to the tunnel is said again on another one, and counts once.
    void begin_anew() noexcept { again_ = sent_; }

  private:
    std::array<traffic_counters*, 2> counts_{};
    std::uint64_t sent_ = 0;
    std::uint64_t again_ = 0;
};

}  // namespace culvert::observe
