#include "proxy/daemon/accept.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <cerrno>
#include <cstring>

#include "proxy/daemon/memory_reserve.hpp"
#include "proxy/observe/log.hpp"

namespace culvert::daemon {
namespace {

constexpr auto no_throw = boost::asio::as_tuple(carrier::use_awaitable);

// So many connections in one go; then the signals and the other listeners have their turn.
constexpr int at_once = 64;

constexpr std::chrono::milliseconds shortest_pause{20};
constexpr std::chrono::milliseconds longest_pause{1'000};

observe::log_limit accept_errors(1);

// These are about one connection that is gone already, not about the listener.
bool concerns_one_connection(int error) noexcept {
    return error == ECONNABORTED || error == EINTR || error == EPROTO || error == ENETDOWN ||
           error == ENETUNREACH || error == EHOSTUNREACH || error == EHOSTDOWN || error == EPERM;
}

}  // namespace

acceptor::acceptor(const carrier::executor& ex, listening_socket socket, destination to,
                   std::function<bool()> room)
    : socket_(std::move(socket)),
      waiting_(ex, ::dup(socket_.fd())),
      pause_(ex),
      to_(std::move(to)),
      room_(std::move(room)) {}

carrier::awaitable<void> acceptor::run() {
    while (!closed_) {
        co_await waiting_.async_wait(decltype(waiting_)::wait_read, no_throw);
        if (closed_) break;
        const int error = accept_some();
        if (error == EAGAIN || error == 0)
            delay_ = std::chrono::milliseconds{0};
        else
            co_await back_off(error);
    }
}

int acceptor::accept_some() {
    for (int i = 0; i < at_once; ++i) {
        if (!room_()) return EMFILE;
        // One a second all the same: it may be that it is as well as it will ever be.
        const bool tried_for_long = i == 0 && delay_ == longest_pause;
        if (memory_is_short() && !tried_for_long) return ENOMEM;
        const int fd = ::accept4(socket_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            try {
                to_.take(descriptor(fd));
            } catch (const std::bad_alloc&) {
                return ENOMEM;
            }
        } else if (!concerns_one_connection(errno)) {
            return errno;
        }
    }
    return 0;
}

carrier::awaitable<void> acceptor::back_off(int error) {
    delay_ = std::clamp(delay_ * 2, shortest_pause, longest_pause);
    to_.put_off();
    observe::log(accept_errors, observe::log_level::warning,
                 "{}: cannot accept connections: {}; trying again", to_.section,
                 std::strerror(error));
    pause_.expires_after(delay_);
    co_await pause_.async_wait(no_throw);
}

void acceptor::close() {
    closed_ = true;
    carrier::error_code ignored;
    waiting_.close(ignored);
    pause_.cancel();
    const listening_socket gone(std::move(socket_));
}

void acceptor::give_back() {
    socket_.give_back();
    close();
}

void acceptor::hand_over() {
    socket_.leave_path();
    close();
}

void start_accepting(const std::shared_ptr<acceptor>& one) {
    boost::asio::co_spawn(one->executor(), one->run(), [one](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e);
    });
}

}  // namespace culvert::daemon
