// The client's end of one connection: sends and checks as wire.hpp says.
#pragma once

#include <string>

#include "bench/pattern.hpp"
#include "bench/worker.hpp"

namespace culvert::load {

// Throws failure from every coroutine. Sending and receiving may go on at the same time.
class session {
  public:
    // What to ask for, without seeds: the session draws its own.
    session(worker& owner, std::unique_ptr<stream> wire, kind what, std::uint64_t size = 0,
            std::uint64_t reply_size = 0);
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session();

    // The next `size` bytes up; the first call sends the request too.
    awaitable<void> send(std::uint64_t size);
    awaitable<void> end();

    // Some bytes down, `most` or fewer. More than that at once, or the end, is a failure.
    awaitable<std::uint64_t> receive_part(std::uint64_t most);
    // Exactly `size` bytes down.
    awaitable<void> receive(std::uint64_t size);

    // Whatever comes down next, the verdict included. False at the end.
    awaitable<bool> receive_any();
    // Everything up to the end; checks that both streams were whole, and closes.
    awaitable<void> finish();

    awaitable<void> keep_alive() { return wire_->keep_alive(); }

    // Bytes down so far; the last ones may turn out to be the verdict.
    [[nodiscard]] std::uint64_t arrived() const noexcept {
        return incoming_.received() + tail_.size();
    }

  private:
    awaitable<void> send_request(std::uint64_t& size);
    void take(bytes_view data);
    void take_all_but_tail(bytes_view came);
    void judge_end() const;
    void judge_verdict() const;

    worker& owner_;
    std::unique_ptr<stream> wire_;
    const bool raw_;
    const request request_;
    const pattern outgoing_;
    checker incoming_;
    std::uint64_t sent_ = 0;
    bool requested_ = false;
    std::string tail_;  // the last bytes that came: at the end they are the verdict
};

}  // namespace culvert::load
