#include "proxy/carrier/carrier.hpp"

namespace culvert::carrier {
namespace {

class tcp_carrier final : public carrier {
  public:
    explicit tcp_carrier(stream_socket socket) : socket_(std::move(socket)) {}

    io_result try_read(bytes into) override { return culvert::carrier::try_read(socket_, into); }
    [[nodiscard]] bool buffered() const noexcept override { return false; }
    void begin_write(bytes run) override { rest_ = run; }
    error_code continue_write() override {
        while (!rest_.empty()) {
            const iovec part{rest_.data(), rest_.size()};
            const io_result put = try_write(socket_, std::span(&part, 1));
            if (put.ec) return put.ec;
            rest_ = rest_.subspan(put.size);
        }
        return {};
    }
    [[nodiscard]] bool writing() const noexcept override { return !rest_.empty(); }
    [[nodiscard]] stream_socket& socket() noexcept override { return socket_; }
    [[nodiscard]] bool writable() noexcept override { return culvert::carrier::writable(socket_); }
    awaitable<error_code> finish() override {
        end_writing(socket_);
        co_return error_code{};
    }
    void cancel() noexcept override { culvert::carrier::cancel(socket_); }
    void reset() noexcept override { culvert::carrier::reset(socket_); }
    void close() noexcept override { close_quietly(socket_); }

  private:
    stream_socket socket_;
    bytes rest_;  // of the run, still to be written
};

}  // namespace

std::unique_ptr<carrier> over_tcp(stream_socket socket) {
    return std::make_unique<tcp_carrier>(std::move(socket));
}

}  // namespace culvert::carrier
