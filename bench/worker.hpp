// One thread of a run: its event loop, its connections, what it counts.
#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <list>
#include <optional>

#include "bench/measured_part.hpp"
#include "bench/plan.hpp"
#include "bench/stream.hpp"
#include "bench/tally.hpp"
#include "proxy/protocol/client_handshake.hpp"
#include "proxy/relay/deadline.hpp"

namespace culvert::load {

// What the threads of a run share.
struct run_constants {
    explicit run_constants(const load::plan& what);

    const load::plan& plan;                     // outlives the run
    std::optional<protocol::client_keys> keys;  // with a tunnel
    std::atomic<std::uint64_t> next_seed;       // of the next connection
    measured_part measured;
};

class worker {
  public:
    // `index`: which of plan().threads this is.
    worker(run_constants& constants, unsigned index);

    // Runs its share of the plan's connections to their end.
    void run();

    // From any thread. stop: the duration is over now. abort: so is the grace.
    void stop();
    void abort();

    // ---- for the modes, on this thread ----

    [[nodiscard]] const load::plan& plan() const noexcept { return shared_.plan; }
    [[nodiscard]] carrier::executor executor() noexcept { return context_.get_executor(); }
    [[nodiscard]] relay::buffer_pool& buffers() noexcept { return buffers_; }
    [[nodiscard]] std::uint64_t make_seed() noexcept { return shared_.next_seed++; }
    // How many connections this thread has; the first one has the number `index`, the next one
    // index + threads, and so on.
    [[nodiscard]] unsigned share() const noexcept;
    [[nodiscard]] unsigned index() const noexcept { return index_; }

    // A new connection, ready for the stream. Throws failure.
    awaitable<std::unique_ptr<stream>> connect();

    // The duration ends at `end`, the grace follows. After a stop, it has ended already.
    void set_end(carrier::time_point end);
    [[nodiscard]] carrier::time_point begin() const noexcept { return begin_; }
    [[nodiscard]] carrier::time_point end() const noexcept { return end_; }
    [[nodiscard]] bool over() const noexcept { return carrier::clock::now() >= end_; }
    [[nodiscard]] bool aborted() const noexcept { return aborted_; }

    // What was counted before and after does not belong to the result.
    void begin_measuring();
    void end_measuring();
    // For idle, which counts all the same: only marks the moments.
    [[nodiscard]] measured_part& measured() noexcept { return shared_.measured; }

    // Runs `job` to its end, beside others. A failure is counted, and ends only this job.
    void start(awaitable<void> job);
    void count(const failure& why);

    // Counted from begin_measuring to end_measuring, or all without them. Once run() has returned.
    [[nodiscard]] totals counted() const noexcept;

    counters counts;
    histogram latencies;
    failure_list failures;
    std::uint64_t missed = 0;

  private:
    awaitable<void> guard(awaitable<void> job);
    void cut_all();

    run_constants& shared_;
    const unsigned index_;
    relay::buffer_pool buffers_;
    boost::asio::io_context context_;
    std::list<boost::asio::cancellation_signal> jobs_;
    std::optional<relay::deadline> grace_;
    carrier::time_point begin_ = carrier::clock::now();
    carrier::time_point end_;
    totals before_;
    std::optional<totals> at_end_;
    bool stopped_ = false;
    bool aborted_ = false;
};

}  // namespace culvert::load
