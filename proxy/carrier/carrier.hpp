// What carries the bytes of culvert/1 between the hosts.
#pragma once

#include <memory>

#include "proxy/carrier/socket.hpp"

namespace culvert::carrier {

// One connection to the other end. Reading and writing may go on at the same time, each by one
// coroutine at a time.
class carrier {
  public:
    virtual ~carrier() = default;

    // Waits, holding no buffer, until read_available may have something to say.
    virtual awaitable<error_code> wait_readable() = 0;

    // The bytes of the stream that have come, without waiting for more: asio::error::would_block
    // when there are none. A size of 0 without an error: the peer showed life, but sent nothing
    // of the stream. asio::error::eof when it ends, in whatever form the carrier has for that;
    // nothing about it is authenticated.
    virtual awaitable<io_result> read_available(bytes into) = 0;

    // The same, but waits for the first bytes.
    awaitable<io_result> read_some(bytes into);

    // Writes all of `run`, whose bytes may be changed on the way.
    virtual awaitable<error_code> write(bytes run) = 0;

    // Whether a small write would go through at once.
    [[nodiscard]] virtual bool writable() noexcept = 0;

    // Says in good order that nothing more will be written.
    virtual awaitable<error_code> finish() = 0;

    // Ends what waits now with asio::error::operation_aborted.
    virtual void cancel() noexcept = 0;
    // Closes with a TCP reset and no other word.
    virtual void reset() noexcept = 0;
    // Closes without a reset, as far as the peer has not sent more meanwhile.
    virtual void close() noexcept = 0;
};

// The stream on the TCP connection itself.
std::unique_ptr<carrier> over_tcp(stream_socket socket);

}  // namespace culvert::carrier
