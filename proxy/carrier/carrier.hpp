// What carries the bytes of culvert/1 between the hosts.
#pragma once

#include <memory>

#include "proxy/carrier/socket.hpp"
#include "proxy/carrier/turn.hpp"

namespace culvert::carrier {

// One connection to the other end. Reading and writing may go on at the same time. The calls that
// never wait are for the relay, which waits on socket() itself; the coroutines below stand on them.
class carrier {
  public:
    virtual ~carrier() = default;

    // The bytes of the stream that have come, without waiting for more: asio::error::would_block
    // when there are none. A size of 0 without an error: the peer showed life, but sent nothing
    // of the stream. asio::error::eof when it ends, in whatever form the carrier has for that;
    // nothing about it is authenticated.
    virtual io_result try_read(bytes into) = 0;

    // Whether bytes, or the end, have come that the socket does not tell of any more: no wait then.
    [[nodiscard]] virtual bool buffered() const noexcept = 0;

    // Begins to write `run`, which stays where it is, and may be changed, until writing() is over.
    // Precondition: !writing(). Nothing is sent before continue_write().
    virtual void begin_write(bytes run) = 0;

    // Writes what the kernel takes. Success: the run is out. asio::error::would_block: call again
    // when the socket is writable.
    virtual error_code continue_write() = 0;

    [[nodiscard]] virtual bool writing() const noexcept = 0;

    // To wait on; everything else goes through the carrier.
    [[nodiscard]] virtual stream_socket& socket() noexcept = 0;

    // Whether a small write would go through at once.
    [[nodiscard]] virtual bool writable() noexcept = 0;

    // Says in good order that nothing more will be written. Precondition: !writing().
    virtual awaitable<error_code> finish() = 0;

    // Ends what waits now with asio::error::operation_aborted.
    virtual void cancel() noexcept = 0;
    // Closes with a TCP reset and no other word.
    virtual void reset() noexcept = 0;
    // Closes without a reset, as far as the peer has not sent more meanwhile.
    virtual void close() noexcept = 0;

    // Waits, holding no buffer, until try_read may have something to say.
    awaitable<error_code> wait_readable();
    // try_read, but waits for the first bytes, and now and then for the others on this thread.
    awaitable<io_result> read_some(bytes into);
    // Writes all of `run`, whose bytes may be changed on the way.
    awaitable<error_code> write(bytes run);

  private:
    turn turn_;
};

// The stream on the TCP connection itself.
std::unique_ptr<carrier> over_tcp(stream_socket socket);

}  // namespace culvert::carrier
