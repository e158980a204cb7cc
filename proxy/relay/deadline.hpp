// Does something when a moment has come, unless the guard is gone by then.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "proxy/carrier/net.hpp"
#include "proxy/relay/cancellation.hpp"

namespace culvert::relay {

// The action runs on the executor's thread, and again every 100 ms while the guard lives: an
// operation that begins just after the first time must be ended too. A cancellation, which outlives
// the guard, brings the moment forward.
class deadline {
  public:
    deadline(const carrier::executor& ex, carrier::time_point when, std::function<void()> action,
             cancellation* early = nullptr)
        : state_(std::make_shared<state>(ex, when, std::move(action), early)) {
        if (early != nullptr) early->add(*state_);
        state_->arm(state_->next());
    }
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;
    ~deadline() {
        state_->action = nullptr;
        if (state_->is_linked()) state_->unlink();
        state_->timer.cancel();
    }

    [[nodiscard]] bool passed() const noexcept { return state_->passed; }

  private:
    struct state final : cancellation::waiter, std::enable_shared_from_this<state> {
        state(const carrier::executor& ex, carrier::time_point by, std::function<void()> what,
              cancellation* sooner)
            : timer(ex), when(by), action(std::move(what)), early(sooner) {}

        // When there is something to do or to look at.
        [[nodiscard]] carrier::time_point next() const {
            if (early == nullptr) return when;
            const auto now = carrier::clock::now();
            if (early->requested()) return now;
            return early->looks() ? std::min(when, now + cancellation::interval) : when;
        }
        void arm(carrier::time_point at) {
            timer.expires_at(at);
            timer.async_wait([self = shared_from_this()](const carrier::error_code& ec) {
                if (!ec && self->action) self->look();
            });
        }
        void look() {
            const bool again = passed;
            if (early != nullptr && !again) early->look();
            if (passed && !again) return;  // cancelled() has seen to it
            const bool over = again || (early != nullptr && early->requested());
            if (over || carrier::clock::now() >= when)
                fire();
            else
                arm(next());
        }
        void fire() {
            passed = true;
            action();
            if (action) arm(carrier::clock::now() + std::chrono::milliseconds{100});
        }
        void cancelled() override {
            if (action) fire();
        }

        carrier::timer timer;
        const carrier::time_point when;
        std::function<void()> action;
        cancellation* early;
        bool passed = false;
    };
    std::shared_ptr<state> state_;
};

}  // namespace culvert::relay
