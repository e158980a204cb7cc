// A two-way stream of bytes to a backend, whatever carries it.
#pragma once

#include <memory>

#include "proxy/carrier/socket.hpp"
#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/established.hpp"

namespace culvert::load {

using carrier::awaitable;
using crypto::bytes;
using crypto::bytes_view;

// Reading and writing may go on at the same time, each by one coroutine at a time. Everything here
// throws `failure` (failure.hpp) when the stream is cut. A stream that is destroyed before close()
// is cut itself, with a reset.
class stream {
  public:
    virtual ~stream() = default;

    // Waits, holding no buffer, for the next bytes. They stay until the next read. Empty: the other
    // end has ended in good order.
    virtual awaitable<bytes_view> read() = 0;

    // Writes all.
    virtual awaitable<void> write(bytes_view all) = 0;

    // Half-close: says in good order that nothing more will be written.
    virtual awaitable<void> end() = 0;

    // After both directions have ended.
    virtual awaitable<void> close() = 0;

    // Called every 20 s or more often while nothing is written.
    virtual awaitable<void> keep_alive() = 0;
};

// `socket` is prepared. The pool outlives the stream.
std::unique_ptr<stream> over_socket(carrier::stream_socket socket, relay::buffer_pool& pool);

// culvert/1: `session` has been told its service.
std::unique_ptr<stream> over_tunnel(relay::established session, relay::buffer_pool& pool);

}  // namespace culvert::load
