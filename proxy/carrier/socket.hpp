// What the relay does with a stream socket: try first, wait only when the kernel has nothing.
#pragma once

#include <sys/uio.h>

#include <array>
#include <optional>
#include <span>
#include <string>

#include "crypto/bytes.hpp"
#include "proxy/carrier/net.hpp"

namespace culvert::carrier {

using crypto::bytes;
using crypto::bytes_view;

struct io_result {
    error_code ec;  // asio::error::eof at the end, asio::error::would_block when nothing was there
    std::size_t size = 0;
    bool drained = false;  // a read that took all there was: to try again at once is no use
};

// errno of the system call that has just failed.
[[nodiscard]] error_code last_error() noexcept;

// One read or gathered write that never waits. A write may take less than all of it.
io_result try_read(stream_socket& socket, bytes into);
io_result try_read(stream_socket& socket, std::span<const iovec> into);
io_result try_write(stream_socket& socket, std::span<const iovec> from);
// A read that leaves the bytes where they are.
io_result try_peek(stream_socket& socket, bytes into);
// What is left of `parts` after `size` bytes of them; the first one left may have changed.
std::span<iovec> drop_front(std::span<iovec> parts, std::size_t size) noexcept;

// Waits until a read, or a write, would do something: more room, the end and an error included.
awaitable<error_code> wait_readable(stream_socket& socket);
awaitable<error_code> wait_writable(stream_socket& socket);
// Takes the error that the kernel keeps for the socket; success when there is none.
error_code error_of(stream_socket& socket) noexcept;

// Whether the kernel has room for a small write now.
[[nodiscard]] bool writable(stream_socket& socket) noexcept;

// Looks at a socket without touching it. Failed: the connection was reset, or timed out. Ended:
// that, or the peer sends nothing more; bytes may still be there to be read.
[[nodiscard]] bool has_failed(stream_socket& socket) noexcept;
[[nodiscard]] bool has_ended(stream_socket& socket) noexcept;

// Reads once, waiting for the first byte.
awaitable<io_result> read_some(stream_socket& socket, bytes into);
// Writes everything. The parts are used up: their pointers and sizes change.
awaitable<error_code> write_all(stream_socket& socket, std::span<iovec> parts);
awaitable<error_code> write_all(stream_socket& socket, bytes_view all);

// Prepares a connected socket: TCP_NODELAY where there is TCP. Accepted ones have it of their
// listener. Nothing here needs the non-blocking mode: no call waits.
void prepare(stream_socket& socket) noexcept;

// Armed: whenever the socket closes, by us or because the process dies, the peer gets a reset.
// Unix sockets know no reset: theirs is lost on the peer, who sees an end of file.
void arm_reset(int fd, bool armed) noexcept;
void arm_reset(stream_socket& socket, bool armed) noexcept;

// Ends what waits on it with asio::error::operation_aborted.
void cancel(stream_socket& socket) noexcept;
// Closes with a reset.
void reset(stream_socket& socket) noexcept;
// Says that nothing more comes; harmless when the socket is gone.
void end_writing(stream_socket& socket) noexcept;
// Takes what the peer has sent so far and closes, so that the close itself is no reset.
void close_quietly(stream_socket& socket) noexcept;

// Reads and throws away until the end or an error.
awaitable<void> discard(stream_socket& socket);

// An IP address, IPv4 as ::ffff:a.b.c.d, and a port.
struct ip_place {
    std::array<std::uint8_t, 16> address{};
    std::uint16_t port = 0;

    [[nodiscard]] bool is_ipv4() const noexcept;
    friend bool operator==(const ip_place&, const ip_place&) = default;
};
// "127.0.0.1", "::1"; "127.0.0.1:80", "[::1]:80".
std::string address_text(const ip_place& place);
std::string to_text(const ip_place& place);

// Of the peer, and of this end; none where there is no peer any more, or it is no IP socket.
std::optional<ip_place> peer_place(const stream_socket& socket);
std::optional<ip_place> local_place(const stream_socket& socket);

// As to_text() of the peer's place, or "unix", or "gone".
std::string peer_name(const stream_socket& socket);
// The peer's IP address, IPv4 as ::ffff:a.b.c.d; all zero for a unix socket.
std::array<std::uint8_t, 16> peer_address(const stream_socket& socket);

}  // namespace culvert::carrier
