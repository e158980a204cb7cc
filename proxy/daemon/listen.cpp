#include "proxy/daemon/listen.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace culvert::daemon {
namespace {

using sockets = std::vector<listening_socket>;
using outcome = boost::system::result<sockets, listen_error>;

constexpr int backlog = 4'096;  // the kernel takes less where somaxconn says so

listen_error failed(const config::endpoint& place, int code) {
    std::string text = "cannot listen on " + place.text() + ": " + std::strerror(code);
    if (code == EADDRINUSE) text += ": another process, or another section, has this place";
    if (code == EACCES && place.port != 0 && place.port < 1024)
        text += ": ports below 1024 are for root, or for a process with CAP_NET_BIND_SERVICE";
    return {text};
}

int open_socket(int family, int type = SOCK_STREAM) {
    return ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

sockets one(listening_socket socket) {
    sockets out;
    out.push_back(std::move(socket));
    return out;
}

bool bind_and_listen(int fd, const sockaddr* address, socklen_t size) {
    return ::bind(fd, address, size) == 0 && ::listen(fd, backlog) == 0;
}

outcome listen_on_address(const config::endpoint& place, const addrinfo& address,
                          sockets_at_hand& at_hand) {
    auto open_already = at_hand.take(address.ai_addr, address.ai_addrlen);
    listening_socket socket(open_already ? open_already->fd.release()
                                         : open_socket(address.ai_family));
    if (socket.fd() < 0) return failed(place, errno);
    const int on = 1;
    ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on,
                 sizeof on);  // its connections inherit it
    if (open_already) return one(std::move(socket));
    ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.ai_family == AF_INET6)
        ::setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (!bind_and_listen(socket.fd(), address.ai_addr, address.ai_addrlen))
        return failed(place, errno);
    return one(std::move(socket));
}

outcome listen_on_name(const config::endpoint& place, sockets_at_hand& at_hand) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const auto port = std::to_string(place.port);
    if (const int code = ::getaddrinfo(place.host.c_str(), port.c_str(), &hints, &found); code != 0)
        return listen_error{"cannot listen on " + place.text() + ": " + ::gai_strerror(code)};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    sockets all;
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
        auto found_one = listen_on_address(place, *at, at_hand);
        if (!found_one) return found_one.error();
        all.push_back(std::move(found_one->front()));
    }
    return all;
}

// A socket file that a dead process left behind refuses connections.
void remove_leftover(const sockaddr_un& address, int type) {
    struct stat info {};
    if (::lstat(address.sun_path, &info) != 0 || !S_ISSOCK(info.st_mode)) return;
    const int fd = open_socket(AF_UNIX, type);
    if (fd < 0) return;
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(fd, generic, sizeof address) != 0 && errno == ECONNREFUSED)
        ::unlink(address.sun_path);
    ::close(fd);
}

boost::system::result<listening_socket, listen_error> listen_on_path(const config::endpoint& place,
                                                                     int type,
                                                                     sockets_at_hand& at_hand) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    place.unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (auto open_already = at_hand.take(generic, sizeof address)) {
        listening_socket socket(open_already->fd.release());
        socket.was_at_hand();
        if (open_already->path == sockets_at_hand::path_belongs_to::us)
            socket.remove_at_end(place.unix_path);
        return socket;
    }
    remove_leftover(address, type);
    listening_socket socket(open_socket(AF_UNIX, type));
    if (socket.fd() < 0 || !bind_and_listen(socket.fd(), generic, sizeof address))
        return failed(place, errno);
    socket.remove_at_end(place.unix_path);  // not before: until then it may be somebody else's
    return socket;
}

}  // namespace

listening_socket::listening_socket(listening_socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      unix_path_(std::exchange(other.unix_path_, {})),
      device_(other.device_),
      file_(other.file_),
      at_hand_(other.at_hand_) {}

// The path goes first: once the socket is closed, somebody else may take the place.
listening_socket::~listening_socket() {
    if (!unix_path_.empty()) remove_path();
    if (fd_ >= 0) ::close(fd_);
}

void listening_socket::remove_at_end(std::string unix_path) {
    struct stat info {};
    if (::lstat(unix_path.c_str(), &info) != 0) return;
    unix_path_ = std::move(unix_path);
    device_ = info.st_dev;
    file_ = info.st_ino;
}

void listening_socket::remove_path() const noexcept {
    struct stat info {};
    if (::lstat(unix_path_.c_str(), &info) != 0) return;
    if (info.st_dev == device_ && info.st_ino == file_) ::unlink(unix_path_.c_str());
}

outcome listen_on(const config::endpoint& place, sockets_at_hand& at_hand) {
    if (!place.is_unix()) return listen_on_name(place, at_hand);
    auto socket = listen_on_path(place, SOCK_STREAM, at_hand);
    if (!socket) return socket.error();
    return one(std::move(*socket));
}

boost::system::result<listening_socket, listen_error> listen_for_commands(
    const config::endpoint& place, sockets_at_hand& at_hand) {
    const mode_t before = ::umask(S_IRWXG | S_IRWXO);
    auto socket = listen_on_path(place, SOCK_SEQPACKET, at_hand);
    ::umask(before);
    return socket;
}

}  // namespace culvert::daemon
