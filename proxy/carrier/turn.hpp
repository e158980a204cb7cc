// A peer who sends without a pause never lets his reader wait. Whoever reads him in a loop gives
// way now and then, else nobody else on the thread would have a turn, and no deadline would come.
#pragma once

#include <boost/asio/post.hpp>

#include "proxy/carrier/net.hpp"

namespace culvert::carrier {

class turn {
  public:
    // To be called for each read that did not have to wait. True: now let_others_run().
    [[nodiscard]] bool over() noexcept { return ++reads_ % at_once == 0; }

  private:
    static constexpr unsigned at_once = 16;  // of a few KiB each
    unsigned reads_ = 0;
};

// Everybody else who is ready on this thread comes first.
inline awaitable<void> let_others_run(executor ex) {
    co_await asio::post(ex, use_awaitable);
}

}  // namespace culvert::carrier
