// The stream on a plain TCP or unix socket.
#include <boost/asio/error.hpp>

#include "bench/failure.hpp"
#include "bench/stream.hpp"

namespace culvert::load {
namespace {

class socket_stream final : public stream {
  public:
    socket_stream(carrier::stream_socket socket, relay::buffer_pool& pool)
        : socket_(std::move(socket)), pool_(pool) {}
    ~socket_stream() override { carrier::reset(socket_); }

    awaitable<bytes_view> read() override {
        for (;;) {
            if (!memory_) memory_ = pool_.take();
            const carrier::io_result got = carrier::try_read(socket_, memory_->memory);
            if (!got.ec) co_return bytes_view(memory_->memory).first(got.size);
            memory_.reset();
            if (got.ec == boost::asio::error::eof) co_return bytes_view();
            if (got.ec != boost::asio::error::would_block) cut("reading", got.ec);
            const auto ec = co_await carrier::wait_readable(socket_);
            if (ec) cut("reading", ec);
        }
    }

    awaitable<void> write(bytes_view all) override {
        const auto ec = co_await carrier::write_all(socket_, all);
        if (ec) cut("writing", ec);
    }

    awaitable<void> end() override {
        carrier::end_writing(socket_);
        co_return;
    }

    awaitable<void> close() override {
        carrier::close_quietly(socket_);
        co_return;
    }

    awaitable<void> keep_alive() override { co_return; }

  private:
    [[noreturn]] static void cut(const char* doing, const carrier::error_code& ec) {
        fail_integrity(std::string("the connection was cut while ") + doing + ": " + ec.message());
    }

    carrier::stream_socket socket_;
    relay::buffer_pool& pool_;
    relay::buffer_pool::handle memory_;  // while its content may be in use
};

}  // namespace

std::unique_ptr<stream> over_socket(carrier::stream_socket socket, relay::buffer_pool& pool) {
    return std::make_unique<socket_stream>(std::move(socket), pool);
}

}  // namespace culvert::load
