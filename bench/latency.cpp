// Latency: one request at a time on each connection; as fast as answers come, or at a fixed rate.
#include "bench/modes.hpp"
#include "bench/pause.hpp"
#include "bench/session.hpp"

namespace culvert::load {
namespace {

using carrier::clock;
using carrier::time_point;

awaitable<void> exchange(worker& on, session& s, time_point since) {
    co_await s.send(on.plan().size);
    co_await s.receive(on.plan().reply_size);
    on.latencies.record(clock::now() - since);
    counters::add(on.counts.requests, 1);
}

awaitable<void> closed_loop(worker& on, session& s) {
    while (!on.over()) co_await exchange(on, s, clock::now());
}

// The moments at which one connection sends its requests, those of all connections evenly spread.
// They don't depend on when answers come: a request that has to wait for the answer before it is
// late, and its time counts from the moment at which it should have left. Otherwise a stall of a
// second would be one slow request, and not the thousands that would have met it.
class schedule {
  public:
    schedule(time_point begin, double per_second, double share_of_first)
        : begin_(begin), interval_(1 / per_second), first_(interval_ * share_of_first) {}

    [[nodiscard]] time_point moment(std::uint64_t request) const {
        const auto after = first_ + interval_ * static_cast<double>(request);
        return begin_ + std::chrono::duration_cast<clock::duration>(after);
    }

    // How many requests were due by then.
    [[nodiscard]] std::uint64_t due(time_point by) const {
        const std::chrono::duration<double> time = by - begin_ - first_;
        return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time / interval_) + 1;
    }

  private:
    time_point begin_;
    std::chrono::duration<double> interval_;
    std::chrono::duration<double> first_;
};

// A request that falls due in the last moment of the run does not count as missed.
constexpr std::chrono::milliseconds tolerance{2};

awaitable<void> open_loop(worker& on, session& s, schedule when) {
    carrier::timer timer(on.executor());
    std::uint64_t sent = 0;
    for (;; ++sent) {
        co_await pause_until(on, timer, when.moment(sent));
        if (on.over()) break;
        co_await s.keep_alive();
        co_await exchange(on, s, when.moment(sent));
    }
    const std::uint64_t due = when.due(on.end() - tolerance);
    on.missed += due > sent ? due - sent : 0;
}

awaitable<void> latency_connection(worker& on, unsigned number) {
    const auto& plan = on.plan();
    auto wire = co_await on.connect();
    const bool same = plan.to.raw;
    session s(on, std::move(wire), same ? kind::echo : kind::reply, plan.size, plan.reply_size);
    if (plan.rate == 0) {
        co_await closed_loop(on, s);
    } else {
        const double connections = plan.connections;
        co_await open_loop(on, s,
                           schedule(on.begin(), static_cast<double>(plan.rate) / connections,
                                    number / connections));
    }
    co_await s.send(0);
    co_await s.end();
    co_await s.finish();
}

}  // namespace

void start_latency(worker& on) {
    for (unsigned i = 0; i < on.share(); ++i)
        on.start(latency_connection(on, on.index() + i * on.plan().threads));
}

}  // namespace culvert::load
