// Bulk: one stream a connection, up, down, or up and back.
#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "bench/modes.hpp"
#include "bench/session.hpp"

namespace culvert::load {
namespace {

awaitable<void> upload(worker& on, session& s) {
    std::uint64_t left = on.plan().bytes;
    while (left > 0 && !on.over()) {
        const std::uint64_t piece = std::min(on.plan().size, left);
        co_await s.send(piece);
        left -= piece;
    }
    co_await s.send(0);  // the request, if it is not out yet
    co_await s.end();
}

awaitable<void> up(worker& on, session& s) {
    co_await upload(on, s);
    co_await s.finish();
}

// The backend sends until it has sent all, or until we end.
awaitable<void> down(worker& on, session& s) {
    co_await s.send(0);
    for (bool more = true; more && s.arrived() < on.plan().bytes && !on.over();)
        more = co_await s.receive_any();
    co_await s.end();
    co_await s.finish();
}

// When one half fails, the other one is cancelled: the failure that came first is the cause.
awaitable<void> noting(awaitable<void> half, std::exception_ptr& first) {
    try {
        co_await std::move(half);
    } catch (...) {
        if (!first) first = std::current_exception();
        throw;
    }
}

awaitable<void> both(worker& on, session& s) {
    using namespace boost::asio::experimental::awaitable_operators;
    std::exception_ptr first;
    try {
        co_await (noting(upload(on, s), first) && noting(s.finish(), first));
    } catch (const std::exception&) {
        if (!first) throw;
    }
    if (first) std::rethrow_exception(first);
}

awaitable<void> bulk_connection(worker& on) {
    auto wire = co_await on.connect();
    switch (on.plan().direction) {
        case direction::up: {
            session s(on, std::move(wire), kind::sink);
            co_return co_await up(on, s);
        }
        case direction::down: {
            session s(on, std::move(wire), kind::source, on.plan().bytes);
            co_return co_await down(on, s);
        }
        case direction::both: {
            session s(on, std::move(wire), kind::echo);
            co_return co_await both(on, s);
        }
    }
}

}  // namespace

void start_bulk(worker& on) {
    for (unsigned i = 0; i < on.share(); ++i) on.start(bulk_connection(on));
}

}  // namespace culvert::load
