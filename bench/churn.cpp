// Churn: connections that live for one request and one answer, one after the other.
#include "bench/modes.hpp"
#include "bench/session.hpp"

namespace culvert::load {
namespace {

awaitable<void> one_connection(worker& on) {
    const auto began = carrier::clock::now();
    auto wire = co_await on.connect();
    session s(on, std::move(wire), kind::echo);
    const std::uint64_t size = on.plan().size;
    co_await s.send(size);
    const std::uint64_t first = co_await s.receive_part(size);
    const auto first_byte = carrier::clock::now() - began;
    co_await s.receive(size - first);
    co_await s.end();
    co_await s.finish();
    on.latencies.record(first_byte);
    counters::add(on.counts.requests, 1);
}

// Goes on after a failure, unless nothing has ever gone well: then nothing is there to be measured.
awaitable<void> churn(worker& on) {
    while (!on.over()) {
        try {
            co_await one_connection(on);
        } catch (const failure& why) {
            if (on.aborted() || on.counts.requests == 0) throw;
            on.count(why);
        }
    }
}

}  // namespace

void start_churn(worker& on) {
    for (unsigned i = 0; i < on.share(); ++i) on.start(churn(on));
}

}  // namespace culvert::load
