// All threads that carry connections.
#pragma once

#include <deque>

#include "proxy/daemon/worker.hpp"

namespace culvert::daemon {

class workers {
  public:
    explicit workers(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) all_.emplace_back(i);
    }

    void start();
    void stop();  // and waits until they have

    // From any thread.
    worker& least_loaded();
    // Each in turn: for what stays with a worker.
    worker& next() { return all_[turn_++ % all_.size()]; }

    // Spread evenly. Each section begins at another worker, so that what can't be divided does not
    // all come to the first.
    void add_pool(const std::shared_ptr<const relay::client_context>& section);
    void drop_pool(const std::shared_ptr<const relay::client_context>& section);

    void drain_sessions();
    void stop_sessions(relay::end_reason why);
    void stop_removed(const std::shared_ptr<const relay::server_context>& section);

    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
    [[nodiscard]] std::size_t sessions() const noexcept;
    [[nodiscard]] bool pools_leaving() const noexcept;

    [[nodiscard]] auto begin() noexcept { return all_.begin(); }
    [[nodiscard]] auto end() noexcept { return all_.end(); }

  private:
    std::deque<worker> all_;
    std::size_t turn_ = 0;
};

}  // namespace culvert::daemon
