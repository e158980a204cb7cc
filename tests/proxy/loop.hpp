// One thread's event loop, driven by the test until something is the case.
#pragma once

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <optional>
#include <string>

#include "proxy/carrier/socket.hpp"
#include "proxy/relay/session_end.hpp"

namespace culvert::tests {

using namespace std::chrono_literals;

// How a session, or any coroutine, ended.
struct ending {
    bool done = false;
    std::optional<relay::end_reason> why;  // none: in good order
    std::string detail;
    std::string other;  // what() of any other exception

    void take(const std::exception_ptr& e) {
        done = true;
        try {
            if (e) std::rethrow_exception(e);
        } catch (const relay::session_end& end) {
            why = end.why();
            detail = end.detail();
        } catch (const std::exception& strange) {
            other = strange.what();
        }
    }
    [[nodiscard]] bool clean() const { return done && !why && other.empty(); }
    [[nodiscard]] bool is(relay::end_reason reason) const { return done && why == reason; }
};

class loop {
  public:
    loop() : work_(context_.get_executor()) {}

    [[nodiscard]] carrier::executor executor() noexcept { return context_.get_executor(); }

    // A socket of the loop, prepared as the daemon does.
    carrier::stream_socket adopt(int fd) {
        int family = 0;
        socklen_t size = sizeof family;
        ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
        carrier::stream_socket socket(context_);
        socket.assign(boost::asio::generic::stream_protocol(family, 0), fd);
        carrier::prepare(socket);
        return socket;
    }

    // Runs what is ready until done() holds. False when that takes too long.
    template <class Done>
    bool until(Done done, std::chrono::milliseconds limit = 20s) {
        const auto by = carrier::clock::now() + limit;
        while (!done()) {
            if (carrier::clock::now() >= by) return false;
            context_.run_one_for(2ms);
        }
        return true;
    }
    void run_for(std::chrono::milliseconds time) {
        until([] { return false; }, time);
    }

    // `into` outlives the loop.
    void spawn(carrier::awaitable<void> what, ending& into) {
        boost::asio::co_spawn(context_, std::move(what),
                              [&into](const std::exception_ptr& e) { into.take(e); });
    }

    // The same; `owner` lives as long as the coroutine.
    template <class Owner>
    void spawn(carrier::awaitable<void> what, std::shared_ptr<Owner> owner, ending& into) {
        boost::asio::co_spawn(
            context_, std::move(what),
            [owner = std::move(owner), &into](const std::exception_ptr& e) { into.take(e); });
    }

    // Runs it to its end.
    template <class T>
    T get(carrier::awaitable<T> what) {
        std::optional<T> result;
        std::exception_ptr failed;
        bool done = false;
        boost::asio::co_spawn(context_, std::move(what), [&](const std::exception_ptr& e, T value) {
            failed = e;
            result.emplace(std::move(value));
            done = true;
        });
        if (!until([&] { return done; })) throw std::runtime_error("it does not end");
        if (failed) std::rethrow_exception(failed);
        return std::move(*result);
    }

  private:
    carrier::asio::io_context context_{1};
    carrier::asio::executor_work_guard<carrier::executor> work_;
};

}  // namespace culvert::tests
