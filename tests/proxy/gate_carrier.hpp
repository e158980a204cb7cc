// A carrier whose writes wait until the test lets them through, or fail.
#pragma once

#include <boost/asio/error.hpp>
#include <new>

#include "proxy/carrier/carrier.hpp"

namespace culvert::tests {

struct gate {
    bool shut = false;
    culvert::carrier::error_code fails;  // what writes end with once it is open
    bool failed = false;                 // and one has
    bool no_memory = false;              // for a goodbye
    bool reads_on = false;               // no read says that it took all there was
    int goodbyes = 0;
};

class gate_carrier final : public culvert::carrier::carrier {
  public:
    gate_carrier(culvert::carrier::stream_socket socket, gate& door)
        : inner_(culvert::carrier::over_tcp(std::move(socket))), door_(door) {}

    culvert::carrier::io_result try_read(culvert::carrier::bytes into) override {
        culvert::carrier::io_result got = inner_->try_read(into);
        got.drained &= !door_.reads_on;
        return got;
    }
    [[nodiscard]] bool buffered() const noexcept override { return false; }
    void begin_write(culvert::carrier::bytes run) override { inner_->begin_write(run); }
    culvert::carrier::error_code continue_write() override {
        if (!inner_->writing()) return {};
        if (door_.shut) return boost::asio::error::would_block;
        door_.failed = door_.failed || door_.fails;
        return door_.fails ? door_.fails : inner_->continue_write();
    }
    [[nodiscard]] bool writing() const noexcept override { return inner_->writing(); }
    [[nodiscard]] culvert::carrier::stream_socket& socket() noexcept override {
        return inner_->socket();
    }
    [[nodiscard]] bool writable() noexcept override { return !door_.shut && inner_->writable(); }
    culvert::carrier::awaitable<culvert::carrier::error_code> finish() override {
        if (door_.no_memory) throw std::bad_alloc();
        ++door_.goodbyes;
        return finish_when_open();
    }
    void cancel() noexcept override { inner_->cancel(); }
    void reset() noexcept override { inner_->reset(); }
    void close() noexcept override { inner_->close(); }

  private:
    culvert::carrier::awaitable<culvert::carrier::error_code> finish_when_open() {
        culvert::carrier::timer pause(socket().get_executor());
        while (door_.shut && socket().is_open()) {
            pause.expires_after(std::chrono::milliseconds{1});
            co_await pause.async_wait(culvert::carrier::use_awaitable);
        }
        co_return co_await inner_->finish();
    }

    std::unique_ptr<culvert::carrier::carrier> inner_;
    gate& door_;
};

}  // namespace culvert::tests
