#include "bench/run.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "bench/progress.hpp"
#include "bench/worker.hpp"

namespace culvert::load {
namespace {

namespace asio = boost::asio;
using carrier::error_code;

// Some send a signal to a process and then to its group: twice, but meant once.
constexpr std::chrono::milliseconds impatient_after{500};

// The workers on their threads; this thread watches.
class runner {
  public:
    explicit runner(const plan& what) : constants_(what) {
        for (unsigned i = 0; i < what.threads; ++i)
            workers_.push_back(std::make_unique<worker>(constants_, i));
        await_signal();
        if (!what.quiet) tick();
    }

    outcome execute();

  private:
    void launch(worker& one);
    void await_signal();
    void tick();
    void sample();
    [[nodiscard]] totals so_far() const noexcept;
    [[nodiscard]] outcome collect() const;

    run_constants constants_;
    progress progress_;
    timeline timeline_;
    carrier::time_point began_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::thread> threads_;
    std::size_t running_ = 0;
    asio::io_context watch_{1};
    asio::signal_set signals_{watch_, SIGINT, SIGTERM};
    asio::basic_waitable_timer<carrier::clock> second_{watch_, carrier::clock::now()};
    asio::basic_waitable_timer<carrier::clock> next_sample_{watch_};
    std::optional<carrier::time_point> stopped_;
};

outcome runner::execute() {
    const machine host = this_machine();
    const auto started = std::chrono::system_clock::now();
    began_ = carrier::clock::now();
    const double cpu_before = cpu_seconds_so_far();
    running_ = workers_.size();
    for (const auto& one : workers_) launch(*one);
    sample();
    watch_.run();
    for (auto& thread : threads_) thread.join();
    progress_.finish();

    outcome found = collect();
    found.machine = host;
    found.started = started;
    if (constants_.plan.in_part()) {
        found.time = constants_.measured.time();
        found.cpu_seconds = constants_.measured.cpu_seconds();
        if (found.time.count() > 0) found.counted_from = constants_.measured.began() - began_;
    } else {
        found.time = carrier::clock::now() - began_;
        found.cpu_seconds = cpu_seconds_so_far() - cpu_before;
    }
    return found;
}

void runner::launch(worker& one) {
    threads_.emplace_back([this, &one] {
        one.run();
        asio::post(watch_, [this] {
            if (--running_ == 0) watch_.stop();
        });
    });
}

void runner::await_signal() {
    signals_.async_wait([this](const error_code& ec, int) {
        if (ec) return;
        const auto now = carrier::clock::now();
        const bool again = stopped_ && now - *stopped_ >= impatient_after;
        if (!stopped_) stopped_ = now;
        for (const auto& one : workers_) again ? one->abort() : one->stop();
        await_signal();
    });
}

void runner::tick() {
    second_.expires_at(second_.expiry() + std::chrono::seconds{1});
    second_.async_wait([this](const error_code& ec) {
        if (ec) return;
        progress_.show(so_far());
        tick();
    });
}

void runner::sample() {
    next_sample_.expires_after(timeline_.interval());
    next_sample_.async_wait([this](const error_code& ec) {
        if (ec) return;
        timeline_.add(carrier::clock::now() - began_, so_far());
        sample();
    });
}

totals runner::so_far() const noexcept {
    totals now;
    for (const auto& one : workers_) now.add(one->counts);
    return now;
}

outcome runner::collect() const {
    outcome all;
    for (const auto& one : workers_) {
        all.counts.add(one->counted());
        all.latencies.merge(one->latencies);
        all.failures.merge(one->failures);
        all.missed += one->missed;
    }
    all.timeline = timeline_;
    all.timeline.add(carrier::clock::now() - began_, so_far());
    return all;
}

}  // namespace

outcome run(const plan& what) {
    runner all(what);
    return all.execute();
}

}  // namespace culvert::load
