#include <boost/asio/error.hpp>

#include "proxy/carrier/carrier.hpp"

namespace culvert::carrier {
namespace {

class tcp_carrier final : public carrier {
  public:
    explicit tcp_carrier(stream_socket socket) : socket_(std::move(socket)) {}

    awaitable<error_code> wait_readable() override {
        return culvert::carrier::wait_readable(socket_);
    }
    awaitable<io_result> read_available(bytes into) override { co_return try_read(socket_, into); }
    awaitable<error_code> write(bytes run) override { return write_all(socket_, bytes_view(run)); }
    awaitable<error_code> finish() override {
        end_writing(socket_);
        co_return error_code{};
    }
    [[nodiscard]] bool writable() noexcept override { return culvert::carrier::writable(socket_); }
    void cancel() noexcept override { culvert::carrier::cancel(socket_); }
    void reset() noexcept override { culvert::carrier::reset(socket_); }
    void close() noexcept override { close_quietly(socket_); }

  private:
    stream_socket socket_;
};

}  // namespace

awaitable<io_result> carrier::read_some(bytes into) {
    for (;;) {
        const io_result got = co_await read_available(into);
        if (got.ec != asio::error::would_block) co_return got;
        if (const error_code ec = co_await wait_readable(); ec) co_return io_result{ec};
    }
}

std::unique_ptr<carrier> over_tcp(stream_socket socket) {
    return std::make_unique<tcp_carrier>(std::move(socket));
}

}  // namespace culvert::carrier
