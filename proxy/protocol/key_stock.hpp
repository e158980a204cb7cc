// Ephemeral key pairs made ahead of need: half of a handshake's arithmetic, off its way.
#pragma once

#include <vector>

#include "proxy/protocol/handshake.hpp"
#include "proxy/protocol/key_agreement.hpp"

namespace culvert::protocol {

// Of one thread. A pair leaves the stock for good: no two handshakes get the same.
class key_stock {
  public:
    static constexpr std::size_t most = 16;

    key_stock() { pairs_.reserve(most); }
    key_stock(const key_stock&) = delete;
    key_stock& operator=(const key_stock&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return pairs_.size(); }
    [[nodiscard]] bool full() const noexcept { return pairs_.size() == most; }
    [[nodiscard]] bool empty() const noexcept { return pairs_.empty(); }

    // Precondition: not full. One scalar multiplication, some 25 µs.
    void make_one(random_source& random);

    // Precondition: not empty.
    [[nodiscard]] key_pair take() noexcept;

  private:
    std::vector<key_pair> pairs_;
};

// From the stock if there is one with something in it, else made now.
[[nodiscard]] key_pair draw_ephemeral(key_stock* stock, random_source& random);

}  // namespace culvert::protocol
