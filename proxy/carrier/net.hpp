// The concrete Asio types of the shell: one executor type, no type erasure.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>

namespace culvert::carrier {

namespace asio = boost::asio;
using boost::system::error_code;

using executor = asio::io_context::executor_type;
template <class T = void>
using awaitable = asio::awaitable<T, executor>;
inline constexpr asio::use_awaitable_t<executor> use_awaitable{};

using clock = std::chrono::steady_clock;
using time_point = clock::time_point;
using timer = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, executor>;

// A TCP or unix stream socket.
using stream_socket = asio::basic_stream_socket<asio::generic::stream_protocol, executor>;

}  // namespace culvert::carrier
