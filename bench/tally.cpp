#include "bench/tally.hpp"

namespace culvert::load {

void totals::add(const counters& more) noexcept {
    sent += more.sent.load(std::memory_order_relaxed);
    received += more.received.load(std::memory_order_relaxed);
    requests += more.requests.load(std::memory_order_relaxed);
    failures += more.failures.load(std::memory_order_relaxed);
    open += more.open.load(std::memory_order_relaxed);
}

void totals::add(const totals& more) noexcept {
    sent += more.sent;
    received += more.received;
    requests += more.requests;
    failures += more.failures;
    open += more.open;
}

void failure_list::add(const failure& one) {
    add(one.what(), 1);
    if (one.kind() == failure_kind::integrity && broken_.empty()) broken_ = one.what();
}

void failure_list::merge(const failure_list& other) {
    for (const auto& [reason, times] : other.reasons_) add(reason, times);
    if (broken_.empty()) broken_ = other.broken_;
}

void failure_list::add(const std::string& reason, std::uint64_t times) {
    const bool fits = reasons_.size() < most_reasons || reasons_.contains(reason);
    reasons_[fits ? reason : "others"] += times;
    count_ += times;
}

}  // namespace culvert::load
