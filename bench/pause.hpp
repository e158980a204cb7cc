// Waiting on an open connection.
#pragma once

#include <boost/asio/as_tuple.hpp>

#include "bench/session.hpp"

namespace culvert::load {

// Until `when`, or the end of the run if that comes first; a stop of the run is seen within 250 ms.
// `timer` belongs to the caller, so that many waits need only one.
inline awaitable<void> pause_until(worker& on, carrier::timer& timer, carrier::time_point when) {
    constexpr std::chrono::milliseconds slice{250};
    for (;;) {
        const auto now = carrier::clock::now();
        const auto until = std::min(when, on.end());
        if (now >= until) co_return;
        timer.expires_at(std::min(until, now + slice));
        co_await timer.async_wait(boost::asio::as_tuple(carrier::use_awaitable));
    }
}

}  // namespace culvert::load
