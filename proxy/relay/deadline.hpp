// Does something when a moment has come, unless the guard is gone by then.
#pragma once

#include <functional>
#include <memory>

#include "proxy/carrier/net.hpp"

namespace culvert::relay {

// The action runs on the executor's thread, and again every 100 ms while the guard lives: an
// operation that begins just after the first time must be ended too.
class deadline {
  public:
    deadline(const carrier::executor& ex, carrier::time_point when, std::function<void()> action)
        : state_(std::make_shared<state>(ex, std::move(action))) {
        state::arm(state_, when);
    }
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;
    ~deadline() {
        state_->action = nullptr;
        state_->timer.cancel();
    }

    [[nodiscard]] bool passed() const noexcept { return state_->passed; }

  private:
    struct state {
        state(const carrier::executor& ex, std::function<void()> what)
            : timer(ex), action(std::move(what)) {}

        void fire() {
            passed = true;
            if (action) action();
        }
        static void arm(const std::shared_ptr<state>& self, carrier::time_point when) {
            self->timer.expires_at(when);
            self->timer.async_wait([self](const carrier::error_code& ec) {
                if (ec || !self->action) return;
                self->fire();
                if (self->action) arm(self, carrier::clock::now() + std::chrono::milliseconds{100});
            });
        }

        carrier::timer timer;
        std::function<void()> action;
        bool passed = false;
    };
    std::shared_ptr<state> state_;
};

}  // namespace culvert::relay
