// Standard input and output as the plaintext side of a session.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "proxy/carrier/net.hpp"
#include "proxy/daemon/descriptor.hpp"

namespace culvert::daemon {

// Carries stdin into a socket and what comes out of it to stdout, with a thread each: epoll takes
// no regular files, and a write to a pipe may wait for whoever reads there. A buffer a direction is
// all that is held. Others may share stdin and stdout, so their modes stay as they are.
class standard_streams {
  public:
    // A direction is over: `fault` is empty, or why it could not go on. On the executor's thread.
    // The end of stdin has been passed on then; that of stdout is up to end_output().
    using over = std::function<void(const std::string& fault)>;

    // Both directions begin. They end once the other end of the `socket` is closed: as soon as
    // stdout has taken what came.
    standard_streams(const carrier::executor& ex, descriptor socket, over input, over output);
    standard_streams(const standard_streams&) = delete;
    standard_streams& operator=(const standard_streams&) = delete;

    // Waits for both directions.
    ~standard_streams();

  private:
    const descriptor socket_;
    std::thread input_;
    std::thread output_;
};

// Whoever reads stdout gets an end of file. Of a socket only this direction ends.
void end_output() noexcept;

}  // namespace culvert::daemon
