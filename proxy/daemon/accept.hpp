// Takes connections from a listening socket and hands them to the least loaded worker.
#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <string>

#include "proxy/carrier/net.hpp"
#include "proxy/daemon/descriptor.hpp"
#include "proxy/daemon/listen.hpp"

namespace culvert::daemon {

class acceptor {
  public:
    using taker = std::function<void(descriptor)>;

    // `take` gets connected, non-blocking sockets. While `room` says no, or memory is short,
    // connections stay in the kernel's queue. `failed` is told each time that accepting is put off.
    acceptor(
        const carrier::executor& ex, listening_socket socket, std::string section, taker take,
        std::function<bool()> room, std::function<void()> failed = [] {});

    [[nodiscard]] carrier::executor executor() { return pause_.get_executor(); }

    // Accepts until close(). Both on the executor's thread. When descriptors or memory run out it
    // waits a little, longer each time, instead of spinning.
    carrier::awaitable<void> run();
    void close();

  private:
    // How many were taken, and the error that stopped it: EAGAIN when there are no more.
    int accept_some();
    carrier::awaitable<void> back_off(int error);

    listening_socket socket_;
    carrier::asio::posix::basic_stream_descriptor<carrier::executor> waiting_;
    carrier::timer pause_;
    const std::string section_;
    const taker take_;
    const std::function<bool()> room_;
    const std::function<void()> failed_;
    std::chrono::milliseconds delay_{0};
    bool closed_ = false;
};

}  // namespace culvert::daemon
