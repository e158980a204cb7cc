// A carrier whose writes wait until the test lets them through, or fail.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>

#include "proxy/carrier/carrier.hpp"

namespace culvert::tests {

struct gate {
    bool shut = false;
    culvert::carrier::error_code fails;  // what writes end with once it is open
};

class gate_carrier final : public culvert::carrier::carrier {
  public:
    gate_carrier(culvert::carrier::stream_socket socket, gate& door)
        : pause_(socket.get_executor()),
          inner_(culvert::carrier::over_tcp(std::move(socket))),
          door_(door) {}

    culvert::carrier::awaitable<culvert::carrier::error_code> wait_readable() override {
        return inner_->wait_readable();
    }
    culvert::carrier::awaitable<culvert::carrier::io_result> read_available(
        culvert::carrier::bytes into) override {
        return inner_->read_available(into);
    }
    culvert::carrier::awaitable<culvert::carrier::error_code> write(
        culvert::carrier::bytes run) override {
        while (door_.shut) {
            pause_.expires_after(std::chrono::milliseconds{1});
            co_await pause_.async_wait(boost::asio::as_tuple(culvert::carrier::use_awaitable));
        }
        if (door_.fails) co_return door_.fails;
        co_return co_await inner_->write(run);
    }
    [[nodiscard]] bool writable() noexcept override { return !door_.shut && inner_->writable(); }
    culvert::carrier::awaitable<culvert::carrier::error_code> finish() override {
        return inner_->finish();
    }
    void cancel() noexcept override { inner_->cancel(); }
    void reset() noexcept override { inner_->reset(); }
    void close() noexcept override { inner_->close(); }

  private:
    culvert::carrier::timer pause_;
    std::unique_ptr<culvert::carrier::carrier> inner_;
    gate& door_;
};

}  // namespace culvert::tests
