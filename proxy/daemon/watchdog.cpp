#include "proxy/daemon/watchdog.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>

namespace culvert::daemon {

carrier::awaitable<void> watch(workers& staff, const service_manager& manager,
                               std::chrono::microseconds patience) {
    carrier::timer pause(co_await carrier::asio::this_coro::executor);
    const auto answers = std::make_shared<std::atomic<std::size_t>>(staff.count());
    for (;;) {
        if (*answers == staff.count()) {
            manager.alive();
            *answers = 0;
            for (worker& w : staff) w.call([answers] { ++*answers; });
        }
        pause.expires_after(patience / 4);
        co_await pause.async_wait(carrier::asio::as_tuple(carrier::use_awaitable));
    }
}

}  // namespace culvert::daemon
