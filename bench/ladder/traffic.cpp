#include "bench/ladder/traffic.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace culvert::ladder {
namespace {

constexpr std::size_t piece = 262'144;

int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

}  // namespace

tcp_pair::tcp_pair() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    const int listening = checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(::bind(listening, generic, size), "bind");
    checked(::listen(listening, 1), "listen");
    checked(::getsockname(listening, generic, &size), "getsockname");
    near = checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(::connect(near, generic, size), "connect");
    far = checked(::accept(listening, nullptr, nullptr), "accept");
    ::close(listening);
}

double cpu_seconds_of(std::thread& thread) {
    clockid_t clock{};
    timespec used{};
    ::pthread_getcpuclockid(thread.native_handle(), &clock);
    ::clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

traffic::traffic(int into, int out_of)
    : writer_([this, into] { write_until_stopped(into); }),
      reader_([this, out_of] { read_to_end(out_of); }) {}

void traffic::finish() {
    stopped_ = true;
    if (writer_.joinable()) writer_.join();
    if (reader_.joinable()) reader_.join();
}

void traffic::write_until_stopped(int fd) {
    std::vector<std::uint8_t> data(piece, 42);
    while (!stopped_ && ::send(fd, data.data(), data.size(), MSG_NOSIGNAL) > 0) continue;
    ::shutdown(fd, SHUT_WR);
    while (::recv(fd, data.data(), data.size(), 0) > 0) continue;  // to the other stream's end
    ::close(fd);
}

void traffic::read_to_end(int fd) {
    std::vector<std::uint8_t> data(piece);
    for (;;) {
        const ssize_t got = ::recv(fd, data.data(), data.size(), 0);
        if (got <= 0) break;
        arrived_ += static_cast<std::uint64_t>(got);
    }
    ::close(fd);
}

}  // namespace culvert::ladder
