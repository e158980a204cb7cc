#include "bench/worker.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "bench/connect.hpp"
#include "bench/modes.hpp"
#include "bench/pause.hpp"
#include "crypto/random.hpp"

namespace culvert::load {
namespace {

namespace asio = boost::asio;

std::uint64_t random_seed() {
    std::array<std::uint8_t, 8> random;
    crypto::fill_random(random);
    return crypto::load64_le(random.data());
}

// The end is known once measuring has begun, which on a busy thread may be later than planned.
constexpr std::chrono::hours until_measured{1};

awaitable<void> measure(worker& on) {
    carrier::timer timer(on.executor());
    co_await pause_until(on, timer, on.begin() + on.plan().warm_up);
    on.set_end(carrier::clock::now() + on.plan().duration);
    on.begin_measuring();
    co_await pause_until(on, timer, on.end());
    on.end_measuring();
}

}  // namespace

run_constants::run_constants(const load::plan& what)
    : plan(what), next_seed(random_seed()), measured(what.threads, what.marks) {
    if (plan.to.tunnel) keys = relay::keys_of(*plan.to.tunnel);
}

// Only this thread does I/O here; others may post.
worker::worker(run_constants& constants, unsigned index)
    : shared_(constants), index_(index), context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO) {}

void worker::run() {
    begin_ = carrier::clock::now();
    if (plan().in_part()) {
        set_end(begin_ + until_measured);
        start(measure(*this));
    } else {
        set_end(begin_ + plan().duration);
    }
    start_mode(*this);
    context_.run();
}

void worker::begin_measuring() {
    before_ = {};
    before_.add(counts);
    latencies = {};
    shared_.measured.begin();
}

void worker::end_measuring() {
    shared_.measured.end();
    at_end_.emplace();
    at_end_->add(counts);
}

totals worker::counted() const noexcept {
    totals all;
    all.add(counts);
    totals out = at_end_.value_or(all);
    out.sent -= before_.sent;
    out.received -= before_.received;
    out.requests -= before_.requests;
    out.failures = all.failures;
    out.open = all.open;
    return out;
}

unsigned worker::share() const noexcept {
    const unsigned all = plan().connections;
    return all / plan().threads + (index_ < all % plan().threads ? 1 : 0);
}

awaitable<std::unique_ptr<stream>> worker::connect() {
    const auto& to = plan().to;
    if (!to.tunnel) return connect_plain(executor(), to.plain, buffers_);
    return connect_tunnel(executor(), *to.tunnel, *shared_.keys, buffers_);
}

void worker::set_end(carrier::time_point end) {
    end_ = stopped_ ? std::min(end, carrier::clock::now()) : end;
    grace_.emplace(executor(), end_ + plan().grace, [this] { cut_all(); });
}

void worker::stop() {
    asio::post(context_, [this] {
        stopped_ = true;
        if (!over()) set_end(carrier::clock::now());
    });
}

void worker::abort() {
    asio::post(context_, [this] { cut_all(); });
}

void worker::cut_all() {
    aborted_ = true;
    end_ = std::min(end_, carrier::clock::now());
    for (auto& job : jobs_) job.emit(asio::cancellation_type::terminal);
}

void worker::start(awaitable<void> job) {
    const auto signal = jobs_.emplace(jobs_.end());
    // What guard() lets through is a mistake of this program: it shall end it.
    auto ended = [this, signal](const std::exception_ptr& error) {
        jobs_.erase(signal);
        if (jobs_.empty()) grace_.reset();  // lets run() return
        if (error) std::rethrow_exception(error);
    };
    asio::co_spawn(context_, guard(std::move(job)),
                   asio::bind_cancellation_slot(signal->slot(), std::move(ended)));
}

awaitable<void> worker::guard(awaitable<void> job) {
    try {
        co_await std::move(job);
    } catch (const failure& why) {
        if (aborted_)
            count(failure(failure_kind::integrity, "no end within the grace after the run"));
        else
            count(why);
    } catch (const boost::system::system_error& error) {
        // Cancelled, unless the system refuses something that it never should.
        if (!aborted_) throw;
        count(failure(failure_kind::integrity, "no end within the grace after the run"));
    }
}

void worker::count(const failure& why) {
    failures.add(why);
    counters::add(counts.failures, 1);
}

}  // namespace culvert::load
