// Lets the coroutines of one thread use something in turn: a mutex that suspends.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <utility>

#include "proxy/carrier/net.hpp"

namespace culvert::load {

using carrier::awaitable;

class turn {
  public:
    explicit turn(const carrier::executor& ex) : waiters_(ex, carrier::time_point::max()) {}

    class holder {
      public:
        explicit holder(turn* owner) noexcept : owner_(owner) {}
        holder(holder&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
        holder& operator=(holder&&) = delete;
        ~holder() {
            if (owner_ != nullptr) owner_->give_back();
        }

      private:
        turn* owner_;
    };

    [[nodiscard]] bool taken() const noexcept { return taken_; }

    // Waits for the turn; ends when the holder does. A cancelled wait throws.
    awaitable<holder> take() {
        while (taken_) {
            // Woken by cancel_one(): the error is the wake-up.
            co_await waiters_.async_wait(boost::asio::as_tuple(carrier::use_awaitable));
        }
        taken_ = true;
        co_return holder(this);
    }

  private:
    void give_back() {
        taken_ = false;
        waiters_.cancel_one();
    }

    bool taken_ = false;
    carrier::timer waiters_;
};

}  // namespace culvert::load
