// What is counted of the clients of a server section. It outlives the section's configuration.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "proxy/relay/token_bucket.hpp"

namespace culvert::relay {

// One of so many slots, which ends with this object. The count outlives it; from any thread.
class slot {
  public:
    slot() noexcept = default;
    // Empty when all are taken.
    slot(std::atomic<std::size_t>& taken, std::size_t most) noexcept {
        std::size_t now = taken;
        while (now < most && !taken.compare_exchange_weak(now, now + 1)) {
        }
        if (now < most) taken_ = &taken;
    }
    slot(slot&& other) noexcept : taken_(std::exchange(other.taken_, nullptr)) {}
    slot& operator=(slot&& other) noexcept {
        slot(std::move(other)).swap(*this);
        return *this;
    }
    ~slot() {
        if (taken_ != nullptr) --*taken_;
    }

    explicit operator bool() const noexcept { return taken_ != nullptr; }

  private:
    void swap(slot& other) noexcept { std::swap(taken_, other.taken_); }

    std::atomic<std::size_t>* taken_ = nullptr;
};

// Of one client.
struct client_account {
    std::atomic<std::size_t> sessions{0};  // that have proved their key
    std::atomic<std::size_t> waiting{0};   // of these, for OPEN
    token_bucket to_client;
    token_bucket from_client;
};

// By name: who keeps his name keeps his counts.
class client_ledger {
  public:
    // The one that somebody still holds, or a new one. From any thread, as everything here.
    [[nodiscard]] std::shared_ptr<client_account> account_of(const std::string& name);
    // Makes room of the accounts that nobody holds any more.
    void forget_the_gone();

  private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<client_account>> accounts_;
};

}  // namespace culvert::relay
