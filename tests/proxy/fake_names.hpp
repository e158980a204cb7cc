// A name service in the test's hands: it answers, fails, changes its mind or hangs.
#pragma once

#include <atomic>
#include <boost/asio/error.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "proxy/relay/resolver.hpp"

namespace culvert::tests {

class fake_names {
  public:
    fake_names() = default;
    fake_names(const fake_names&) = delete;
    fake_names& operator=(const fake_names&) = delete;
    // Lets go of whoever hangs, and waits until the last one has left.
    ~fake_names() {
        std::unique_lock lock(mutex_);
        hanging_.clear();
        changed_.notify_all();
        changed_.wait(lock, [this] { return inside_ == 0; });
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
        const std::scoped_lock lock(mutex_);
        hanging_.insert(name);
    }
    void let_go(const std::string& name) {
        const std::scoped_lock lock(mutex_);
        hanging_.erase(name);
        changed_.notify_all();
    }

    // Lookups that were begun, and those that are running.
    [[nodiscard]] int calls() const { return calls_; }
    [[nodiscard]] int inside() {
        const std::scoped_lock lock(mutex_);
        return inside_;
    }

    [[nodiscard]] relay::resolver::lookup lookup() {
        return [this](const std::string& name) { return look_up(name); };
    }

  private:
    void set(const std::string& name, relay::resolved what) {
        const std::scoped_lock lock(mutex_);
        answers_[name] = std::move(what);
    }
    relay::resolved look_up(const std::string& name) {
        std::unique_lock lock(mutex_);
        ++calls_;
        ++inside_;
        changed_.wait(lock, [&] { return !hanging_.contains(name); });
        --inside_;
        changed_.notify_all();
        return answers_[name];
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, relay::resolved> answers_;
    std::set<std::string> hanging_;
    int inside_ = 0;
    std::atomic<int> calls_{0};
};

}  // namespace culvert::tests
