// Takes connections from a listening socket and hands them to whoever is to have them.
#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "proxy/carrier/net.hpp"
#include "proxy/daemon/descriptor.hpp"
#include "proxy/daemon/listen.hpp"

namespace culvert::daemon {

// Where the connections of a listening socket go.
struct destination {
    std::string section;                    // what log lines begin with
    std::function<void(descriptor)> take;   // gets connected, non-blocking sockets
    std::function<void()> put_off = [] {};  // told each time that accepting has to wait
};

class acceptor {
  public:
    // While `room` says no, or memory is short, connections stay in the kernel's queue.
    acceptor(const carrier::executor& ex, listening_socket socket, destination to,
             std::function<bool()> room);

    [[nodiscard]] carrier::executor executor() { return pause_.get_executor(); }
    [[nodiscard]] int fd() const noexcept { return socket_.fd(); }

    // Accepts until close(). When descriptors or memory run out it waits a little, longer each
    // time, instead of spinning. This and what follows on the executor's thread.
    carrier::awaitable<void> run();
    void redirect(destination to) { to_ = std::move(to); }
    // What has been queued by then goes with the socket.
    void close();
    // The same where another process has the socket too: it goes on there, and so does the queue.
    void hand_over();
    // The same before it has accepted any: a socket that was at hand is still where it came from.
    void give_back();

  private:
    // How many were taken, and the error that stopped it: EAGAIN when there are no more.
    int accept_some();
    carrier::awaitable<void> back_off(int error);

    listening_socket socket_;
    carrier::asio::posix::basic_stream_descriptor<carrier::executor> waiting_;
    carrier::timer pause_;
    destination to_;
    const std::function<bool()> room_;
    std::chrono::milliseconds delay_{0};
    bool closed_ = false;
};

// It runs on its executor until it is closed. What fails there is a fault of ours: it ends the
// daemon, visibly.
void start_accepting(const std::shared_ptr<acceptor>& one);

}  // namespace culvert::daemon
