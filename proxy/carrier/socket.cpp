#include "proxy/carrier/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>

#include "proxy/carrier/turn.hpp"

namespace culvert::carrier {
namespace {

constexpr auto no_throw = asio::as_tuple(use_awaitable);

template <class Call>
ssize_t retry(Call call) {
    ssize_t done;
    do done = call();
    while (done < 0 && errno == EINTR);
    return done;
}

io_result read_outcome(ssize_t done, std::size_t room) {
    if (done < 0) return {last_error()};
    if (done == 0) return {asio::error::eof};
    const auto size = static_cast<std::size_t>(done);
    return {{}, size, size < room};
}

using name_call = int (*)(int, sockaddr*, socklen_t*);

// All zero when there is no peer any more.
sockaddr_storage address_of(const stream_socket& socket, name_call which) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int fd = const_cast<stream_socket&>(socket).native_handle();
    which(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return address;
}

constexpr std::array<std::uint8_t, 12> ipv4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<ip_place> place_of(const sockaddr_storage& address) {
    ip_place place;
    if (address.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        std::copy(ipv4_prefix.begin(), ipv4_prefix.end(), place.address.begin());
        std::memcpy(place.address.data() + ipv4_prefix.size(), &v4.sin_addr, sizeof v4.sin_addr);
        place.port = ntohs(v4.sin_port);
    } else if (address.ss_family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        std::memcpy(place.address.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
        place.port = ntohs(v6.sin6_port);
    } else {
        return std::nullopt;
    }
    return place;
}

// Whether any of these is the case now.
bool shows(stream_socket& socket, short events) {
    pollfd entry{socket.native_handle(), events, 0};
    return ::poll(&entry, 1, 0) == 1 && (entry.revents & events) != 0;
}

}  // namespace

error_code last_error() noexcept {
    return {errno, boost::system::system_category()};
}

io_result try_read(stream_socket& socket, bytes into) {
    const int fd = socket.native_handle();
    return read_outcome(retry([&] { return ::recv(fd, into.data(), into.size(), MSG_DONTWAIT); }),
                        into.size());
}

io_result try_peek(stream_socket& socket, bytes into) {
    constexpr int flags = MSG_DONTWAIT | MSG_PEEK;
    const int fd = socket.native_handle();
    return read_outcome(retry([&] { return ::recv(fd, into.data(), into.size(), flags); }),
                        into.size());
}

io_result try_read(stream_socket& socket, std::span<const iovec> into) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(into.data());  // recvmsg does not change it
    message.msg_iovlen = into.size();
    std::size_t room = 0;
    for (const iovec& part : into) room += part.iov_len;
    if (into.size() == 1)
        return try_read(socket, bytes(static_cast<std::uint8_t*>(into[0].iov_base), room));
    const int fd = socket.native_handle();
    return read_outcome(retry([&] { return ::recvmsg(fd, &message, MSG_DONTWAIT); }), room);
}

io_result try_write(stream_socket& socket, std::span<const iovec> from) {
    constexpr int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    const int fd = socket.native_handle();
    ssize_t done = 0;
    if (from.size() == 1) {
        done = retry([&] { return ::send(fd, from[0].iov_base, from[0].iov_len, flags); });
    } else {
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(from.data());  // sendmsg does not change it
        message.msg_iovlen = std::min<std::size_t>(from.size(), IOV_MAX);
        done = retry([&] { return ::sendmsg(fd, &message, flags); });
    }
    if (done < 0) return {last_error()};
    return {{}, static_cast<std::size_t>(done)};
}

std::span<iovec> drop_front(std::span<iovec> parts, std::size_t size) noexcept {
    while (!parts.empty() && size >= parts.front().iov_len) {
        size -= parts.front().iov_len;
        parts = parts.subspan(1);
    }
    if (!parts.empty()) {
        parts.front().iov_base = static_cast<std::uint8_t*>(parts.front().iov_base) + size;
        parts.front().iov_len -= size;
    }
    return parts;
}

awaitable<error_code> wait_readable(stream_socket& socket) {
    auto [ec] = co_await socket.async_wait(stream_socket::wait_read, no_throw);
    co_return ec;
}

awaitable<error_code> wait_writable(stream_socket& socket) {
    auto [ec] = co_await socket.async_wait(stream_socket::wait_write, no_throw);
    co_return ec;
}

error_code error_of(stream_socket& socket) noexcept {
    int value = 0;
    socklen_t size = sizeof value;
    ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &value, &size);
    return {value, boost::system::system_category()};
}

bool writable(stream_socket& socket) noexcept {
    return shows(socket, POLLOUT);
}

bool has_failed(stream_socket& socket) noexcept {
    return shows(socket, POLLERR);
}

bool has_ended(stream_socket& socket) noexcept {
    return shows(socket, POLLERR | POLLHUP | POLLRDHUP);
}

awaitable<io_result> read_some(stream_socket& socket, bytes into) {
    for (;;) {
        const io_result got = try_read(socket, into);
        if (got.ec != asio::error::would_block) co_return got;
        if (const error_code ec = co_await wait_readable(socket); ec) co_return io_result{ec};
    }
}

awaitable<error_code> write_all(stream_socket& socket, std::span<iovec> parts) {
    while (!parts.empty()) {
        const io_result put = try_write(socket, parts);
        if (put.ec == asio::error::would_block) {
            if (const error_code ec = co_await wait_writable(socket); ec) co_return ec;
        } else if (put.ec) {
            co_return put.ec;
        }
        parts = drop_front(parts, put.size);
    }
    co_return error_code{};
}

awaitable<error_code> write_all(stream_socket& socket, bytes_view all) {
    iovec part{const_cast<std::uint8_t*>(all.data()), all.size()};
    co_return co_await write_all(socket, std::span(&part, 1));
}

void prepare(stream_socket& socket) noexcept {
    const int on = 1;
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void arm_reset(int fd, bool armed) noexcept {
    const linger value{armed ? 1 : 0, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &value, sizeof value);
}

void arm_reset(stream_socket& socket, bool armed) noexcept {
    arm_reset(socket.native_handle(), armed);
}

void cancel(stream_socket& socket) noexcept {
    error_code ignored;
    socket.cancel(ignored);
}

void reset(stream_socket& socket) noexcept {
    if (!socket.is_open()) return;
    arm_reset(socket, true);
    error_code ignored;
    socket.close(ignored);
}

void end_writing(stream_socket& socket) noexcept {
    error_code ignored;
    socket.shutdown(stream_socket::shutdown_send, ignored);
}

void close_quietly(stream_socket& socket) noexcept {
    if (!socket.is_open()) return;
    std::array<std::uint8_t, 4096> waste;
    for (int rounds = 0; rounds < 64 && !try_read(socket, waste).ec; ++rounds) {
    }
    arm_reset(socket, false);
    error_code ignored;
    socket.close(ignored);
}

awaitable<void> discard(stream_socket& socket) {
    const auto waste = std::make_unique<std::array<std::uint8_t, 4096>>();
    turn ours;
    for (;;) {
        const io_result got = co_await read_some(socket, *waste);
        if (got.ec) co_return;
        if (ours.over()) co_await let_others_run(socket.get_executor());
    }
}

bool ip_place::is_ipv4() const noexcept {
    return std::equal(ipv4_prefix.begin(), ipv4_prefix.end(), address.begin());
}

std::string address_text(const ip_place& place) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (place.is_ipv4())
        inet_ntop(AF_INET, place.address.data() + ipv4_prefix.size(), text.data(), text.size());
    else
        inet_ntop(AF_INET6, place.address.data(), text.data(), text.size());
    return text.data();
}

std::string to_text(const ip_place& place) {
    const std::string address = address_text(place);
    return (place.is_ipv4() ? address : "[" + address + "]") + ":" + std::to_string(place.port);
}

std::optional<ip_place> peer_place(const stream_socket& socket) {
    return place_of(address_of(socket, ::getpeername));
}

std::optional<ip_place> local_place(const stream_socket& socket) {
    return place_of(address_of(socket, ::getsockname));
}

std::string peer_name(const stream_socket& socket) {
    const sockaddr_storage address = address_of(socket, ::getpeername);
    if (const auto place = place_of(address)) return to_text(*place);
    return address.ss_family == AF_UNIX ? "unix" : "gone";
}

std::array<std::uint8_t, 16> peer_address(const stream_socket& socket) {
    return peer_place(socket).value_or(ip_place{}).address;
}

}  // namespace culvert::carrier
