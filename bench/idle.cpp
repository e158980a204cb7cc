// Idle: many connections that are held open, and are alive before and after.
#include <boost/asio/as_tuple.hpp>
#include <memory>
#include <vector>

#include "bench/modes.hpp"
#include "bench/pause.hpp"
#include "bench/session.hpp"

namespace culvert::load {
namespace {

using carrier::clock;

constexpr unsigned at_once = 32;  // connections of a thread that are being opened or asked
constexpr std::chrono::seconds opening_time{60};
constexpr std::chrono::seconds keep_alive_every{10};

// The connections of one thread. Several jobs walk through them together: each takes the next one
// that nobody has taken.
struct crowd {
    crowd(const carrier::executor& ex, std::size_t size)
        : all(size), walked(ex, carrier::time_point::max()) {}

    std::vector<std::unique_ptr<session>> all;  // nullptr: not open
    std::size_t next = 0;
    unsigned walkers = 0;
    carrier::timer walked;  // cancelled when the last of the walkers is through
};
using shared_crowd = std::shared_ptr<crowd>;

using visit = awaitable<void> (*)(worker&, std::unique_ptr<session>&);

awaitable<void> ask(worker& on, session& s) {
    const auto began = clock::now();
    co_await s.send(on.plan().size);
    co_await s.receive(on.plan().size);
    on.latencies.record(clock::now() - began);
    counters::add(on.counts.requests, 1);
}

awaitable<void> open(worker& on, std::unique_ptr<session>& s) {
    if (on.over()) co_return;
    auto wire = co_await on.connect();
    s = std::make_unique<session>(on, std::move(wire), kind::echo);
    co_await ask(on, *s);
}

awaitable<void> keep(worker&, std::unique_ptr<session>& s) {
    if (s) co_await s->keep_alive();
}

awaitable<void> ask_and_end(worker& on, std::unique_ptr<session>& s) {
    if (!s) co_return;
    co_await ask(on, *s);
    co_await s->end();
    co_await s->finish();
    s.reset();
}

awaitable<void> visit_next(worker& on, crowd& c, visit each) {
    auto& s = c.all[c.next++];
    try {
        co_await each(on, s);
    } catch (const failure& why) {
        s.reset();
        if (on.aborted()) throw;
        on.count(why);
    }
}

awaitable<void> walk(worker& on, shared_crowd c, visit each) {
    struct leave {
        crowd& from;
        ~leave() {
            if (--from.walkers == 0) from.walked.cancel();
        }
    };
    const leave at_end{*c};
    while (c->next < c->all.size() && !on.aborted()) co_await visit_next(on, *c, each);
}

// Visits all, `at_once` at the same time.
awaitable<void> visit_all(worker& on, shared_crowd c, visit each) {
    c->next = 0;
    c->walkers = at_once;
    for (unsigned i = 0; i < at_once; ++i) on.start(walk(on, c, each));
    while (c->walkers > 0)
        co_await c->walked.async_wait(boost::asio::as_tuple(carrier::use_awaitable));
}

awaitable<void> hold(worker& on, shared_crowd c) {
    carrier::timer timer(on.executor());
    on.set_end(clock::now() + on.plan().duration);
    on.measured().begin();
    while (!on.over() && on.counts.open > 0) {
        co_await pause_until(on, timer, clock::now() + keep_alive_every);
        co_await visit_all(on, c, keep);
    }
    on.measured().end();
}

awaitable<void> idle(worker& on, shared_crowd c) {
    on.set_end(clock::now() + opening_time);
    co_await visit_all(on, c, open);
    co_await hold(on, c);
    co_await visit_all(on, c, ask_and_end);
}

}  // namespace

void start_idle(worker& on) {
    on.start(idle(on, std::make_shared<crowd>(on.executor(), on.share())));
}

}  // namespace culvert::load
