#include "proxy/relay/attempt.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <cerrno>

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::error_code;
using carrier::last_error;

// What a connect has come to. A read that takes nothing, not the error that the kernel keeps: a
// peer may have sent bytes and a reset by now, and then the reset is for whoever has read the
// bytes.
error_code state_of(int fd) {
    char byte = 0;
    const auto done = ::recv(fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    return done >= 0 || errno == EAGAIN ? error_code{} : last_error();
}

}  // namespace

error_code attempt::begin() {
    const int family = address_.protocol().family();
    const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return last_error();
    carrier::arm_reset(fd, how_ == closing::reset);
    error_code result;
    if (::connect(fd, address_.data(), static_cast<socklen_t>(address_.size())) != 0)
        result = last_error();
    error_code assigned;
    if (!result || result == asio::error::in_progress)
        socket_.assign(address_.protocol(), fd, assigned);
    if (!socket_.is_open()) ::close(fd);
    if (assigned) return assigned;
    // On one host it is often through already.
    if (result == asio::error::in_progress && carrier::writable(socket_)) return state_of(fd);
    return result;
}

error_code attempt::settle() {
    if (const error_code failed = state_of(socket_.native_handle()); failed) return failed;
    // Asio's reactor watches a socket that has once waited for room to write from then on, so that
    // each later wait to read would wake for nothing first. A fresh registration forgets.
    error_code ec;
    const int fd = socket_.release(ec);
    if (!ec) socket_.assign(address_.protocol(), fd, ec);
    if (ec && fd >= 0 && !socket_.is_open()) ::close(fd);
    return ec;
}

void attempt::give_up() noexcept {
    if (!socket_.is_open()) return;
    carrier::arm_reset(socket_, false);
    error_code ignored;
    socket_.close(ignored);
}

}  // namespace culvert::relay
