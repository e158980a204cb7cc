// What is counted during a run.
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "bench/failure.hpp"
#include "bench/histogram.hpp"

namespace culvert::load {

// Of one thread, which alone writes; others may read while it runs.
struct counters {
    std::atomic<std::uint64_t> sent{0};  // bytes of the streams, without requests and verdicts
    std::atomic<std::uint64_t> received{0};
    std::atomic<std::uint64_t> requests{0};  // answered; in churn, connections that went well
    std::atomic<std::uint64_t> failures{0};
    std::atomic<std::uint64_t> open{0};  // connections now

    // Without the cost of a locked instruction: there is only one writer.
    static void add(std::atomic<std::uint64_t>& to, std::uint64_t more) noexcept {
        to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
};

struct totals {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t requests = 0;
    std::uint64_t failures = 0;
    std::uint64_t open = 0;

    void add(const counters& more) noexcept;
    void add(const totals& more) noexcept;
};

// Why connections failed, and how often each reason came.
class failure_list {
  public:
    void add(const failure& one);
    void merge(const failure_list& other);

    [[nodiscard]] const std::map<std::string, std::uint64_t>& reasons() const noexcept {
        return reasons_;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // The first failure of integrity; empty when all was well.
    [[nodiscard]] const std::string& broken() const noexcept { return broken_; }

  private:
    static constexpr std::size_t most_reasons = 16;  // the rest counts as "others"
    void add(const std::string& reason, std::uint64_t times);

    std::map<std::string, std::uint64_t> reasons_;
    std::uint64_t count_ = 0;
    std::string broken_;
};

}  // namespace culvert::load
