#include "tests/proxy/peer.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>
#include <system_error>

namespace culvert::tests {
namespace {

int checked(int result) {
    if (result < 0) throw std::system_error(errno, std::generic_category());
    return result;
}

int new_socket() {
    return checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Below the range that the kernel takes for outgoing connections.
std::uint16_t random_port() {
    static std::mt19937 engine(std::random_device{}());
    return static_cast<std::uint16_t>(std::uniform_int_distribution(16'000, 32'000)(engine));
}

// 0 when the port is taken.
std::uint16_t try_to_listen(int fd, int backlog) {
    const std::uint16_t port = random_port();
    const sockaddr_in address = loopback(port);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(fd, generic, sizeof address) != 0) return 0;
    return ::listen(fd, backlog) == 0 ? port : std::uint16_t{0};
}

}  // namespace

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

peer::peer(int fd) : fd_(fd) {
    checked(::fcntl(fd, F_SETFL, O_NONBLOCK));
}

peer::peer(peer&& other) noexcept
    : received(std::move(other.received)),
      ended(other.ended),
      error(other.error),
      fd_(other.release()) {}

peer& peer::operator=(peer&& other) noexcept {
    if (this == &other) return *this;
    close();
    received = std::move(other.received);
    ended = other.ended;
    error = other.error;
    fd_ = other.release();
    return *this;
}

std::size_t peer::send(crypto::bytes_view data) {
    const ssize_t done = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done >= 0) return static_cast<std::size_t>(done);
    if (errno != EAGAIN) error = errno;
    return 0;
}

std::size_t peer::send(const std::string& text) {
    return send({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void peer::pump() {
    std::array<std::uint8_t, 65'536> piece;
    while (fd_ >= 0 && !over()) {
        const ssize_t done = ::recv(fd_, piece.data(), piece.size(), MSG_DONTWAIT);
        if (done < 0 && errno == EAGAIN) return;
        if (done < 0) error = errno;
        if (done == 0) ended = true;
        if (done > 0) received.insert(received.end(), piece.begin(), piece.begin() + done);
    }
}

void peer::end() {
    ::shutdown(fd_, SHUT_WR);
}

void peer::reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
}

void peer::close() {
    if (fd_ >= 0) ::close(release());
}

std::pair<int, int> tcp_pair() {
    const listener place;
    const int ours = connect_to(place.port());
    int theirs = -1;
    while (theirs < 0) theirs = place.accept();
    return {ours, theirs};
}

std::pair<int, int> unix_pair() {
    std::array<int, 2> fds{};
    checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()));
    return {fds[0], fds[1]};
}

void shrink_buffers(int fd) {
    const int size = 65'536;  // a segment on loopback is as long
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

listener::listener(int backlog) : fd_(new_socket()) {
    while (port_ == 0) {
        port_ = try_to_listen(fd_, backlog);
        if (port_ == 0) {
            ::close(fd_);
            fd_ = new_socket();
        }
    }
}

listener::~listener() {
    ::close(fd_);
}

int listener::accept() const {
    return ::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int connect_to(std::uint16_t port) {
    const int fd = new_socket();
    const sockaddr_in address = loopback(port);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(fd, generic, sizeof address) != 0 && errno != EINPROGRESS)
        throw std::system_error(errno, std::generic_category());
    return fd;
}

std::uint16_t free_port() {
    return listener().port();
}

}  // namespace culvert::tests
