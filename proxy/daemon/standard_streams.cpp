#include "proxy/daemon/standard_streams.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

namespace culvert::daemon {
namespace {

namespace asio = boost::asio;

using piece = std::array<char, 65'536>;  // what a pipe holds

std::string fault_of(const char* stream) {
    return std::string(stream) + ": " + std::strerror(errno);
}

// Whether the call that has just failed may be made again, after a wait where that is necessary:
// whoever shares the stream may have made it non-blocking.
bool try_again(int fd, short events) {
    if (errno == EINTR) return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    pollfd ready{fd, events, 0};
    ::poll(&ready, 1, -1);
    return true;
}

// False when the session has closed its end.
bool wait_for_input(int socket) {
    std::array<pollfd, 2> both{{{STDIN_FILENO, POLLIN, 0}, {socket, 0, 0}}};
    while (::poll(both.data(), both.size(), -1) < 0 && errno == EINTR) {
    }
    return (both[1].revents & (POLLHUP | POLLERR)) == 0;
}

// False when the session takes no more.
bool give(int socket, std::span<const char> all) {
    while (!all.empty()) {
        const ssize_t sent = ::send(socket, all.data(), all.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        all = all.subspan(static_cast<std::size_t>(sent));
    }
    return true;
}

bool write_out(std::span<const char> all) {
    while (!all.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, all.data(), all.size());
        if (written < 0 && try_again(STDOUT_FILENO, POLLOUT)) continue;
        if (written < 0) return false;
        all = all.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

std::string carry_input(int socket) {
    const auto memory = std::make_unique<piece>();
    while (wait_for_input(socket)) {
        const ssize_t got = ::read(STDIN_FILENO, memory->data(), memory->size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fault_of("stdin");
        if (got == 0) {
            ::shutdown(socket, SHUT_WR);
            return {};
        }
        if (!give(socket, std::span(*memory).first(static_cast<std::size_t>(got)))) return {};
    }
    return {};
}

// What the session has to say about its end, it says itself.
std::string carry_output(int socket) {
    const auto memory = std::make_unique<piece>();
    for (;;) {
        const ssize_t got = ::recv(socket, memory->data(), memory->size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return {};
        if (!write_out(std::span(*memory).first(static_cast<std::size_t>(got))))
            return fault_of("stdout");
    }
}

}  // namespace

standard_streams::standard_streams(const carrier::executor& ex, descriptor socket, over input,
                                   over output)
    : socket_(std::move(socket)),
      input_([ex, fd = socket_.get(), told = std::move(input)] {
          asio::post(ex, [told, fault = carry_input(fd)] { told(fault); });
      }),
      output_([ex, fd = socket_.get(), told = std::move(output)] {
          asio::post(ex, [told, fault = carry_output(fd)] { told(fault); });
      }) {}

standard_streams::~standard_streams() {
    input_.join();
    output_.join();
}

// A socket is not closed: that would be a reset, where it is armed, and its other direction may go
// on.
void end_output() noexcept {
    if (::shutdown(STDOUT_FILENO, SHUT_WR) != 0 && errno == ENOTSOCK) ::close(STDOUT_FILENO);
}

}  // namespace culvert::daemon
