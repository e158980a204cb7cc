// A name service in the test's hands: it answers, fails, changes its mind or hangs.
#pragma once

#include <boost/asio/error.hpp>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "proxy/relay/resolver.hpp"

namespace culvert::tests {

class fake_names {
  public:
    fake_names() = default;
    fake_names(const fake_names&) = delete;
    fake_names& operator=(const fake_names&) = delete;
    // Lets go of whoever hangs.
    ~fake_names() {
        const std::scoped_lock lock(state_->mutex);
        state_->hanging.clear();
        state_->changed.notify_all();
    }

    void answer(const std::string& name, const std::vector<std::string>& addresses) {
        auto list = std::make_shared<relay::ip_addresses>();
        for (const auto& text : addresses) list->push_back(carrier::asio::ip::make_address(text));
        set(name, {{}, std::move(list)});
    }
    void fail(const std::string& name) {
        set(name, {carrier::asio::error::host_not_found_try_again, nullptr});
    }
    void hang(const std::string& name) {
        const std::scoped_lock lock(state_->mutex);
        state_->hanging.insert(name);
    }
    void let_go(const std::string& name) {
        const std::scoped_lock lock(state_->mutex);
        state_->hanging.erase(name);
        state_->changed.notify_all();
    }

    // Lookups that were begun, and those that are running.
    [[nodiscard]] int calls() const {
        const std::scoped_lock lock(state_->mutex);
        return state_->calls;
    }
    [[nodiscard]] int inside() const {
        const std::scoped_lock lock(state_->mutex);
        return state_->inside;
    }

    // May be called, and return, when this is gone: nobody waits for a lookup.
    [[nodiscard]] relay::resolver::lookup lookup() const {
        return [state = state_](const std::string& name) { return state->look_up(name); };
    }

  private:
    struct state {
        relay::resolved look_up(const std::string& name) {
            std::unique_lock lock(mutex);
            ++calls;
            ++inside;
            changed.wait(lock, [&] { return !hanging.contains(name); });
            --inside;
            return answers[name];
        }

        std::mutex mutex;
        std::condition_variable changed;
        std::map<std::string, relay::resolved> answers;
        std::set<std::string> hanging;
        int calls = 0;
        int inside = 0;
    };
    void set(const std::string& name, relay::resolved what) {
        const std::scoped_lock lock(state_->mutex);
        state_->answers[name] = std::move(what);
    }

    const std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace culvert::tests
