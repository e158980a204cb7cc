// The Asio types of the fault proxy.
#pragma once

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "proxy/carrier/net.hpp"

namespace culvert::faults {

namespace asio = boost::asio;
using asio::ip::tcp;
using carrier::awaitable;
using carrier::error_code;
using carrier::executor;
using carrier::timer;
using carrier::use_awaitable;

using tcp_socket = asio::basic_stream_socket<tcp, executor>;
using tcp_acceptor = asio::basic_socket_acceptor<tcp, executor>;

inline constexpr auto no_throw = asio::as_tuple(use_awaitable);

inline void close_with_reset(tcp_socket& socket) noexcept {
    if (!socket.is_open()) return;
    const linger at_once{1, 0};
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    error_code ignored;
    socket.close(ignored);
}

inline void end_writing(tcp_socket& socket) noexcept {
    error_code ignored;
    socket.shutdown(tcp_socket::shutdown_send, ignored);
}

}  // namespace culvert::faults
