// A man in the middle who harms one connection after the other in one way.
#pragma once

#include <cstdint>
#include <thread>

#include "config/endpoint.hpp"

namespace culvert::load::testing {

enum class harm : std::uint8_t { flip, lose, repeat, end, reset, swallow };

// What to do to which byte of which direction.
struct mischief {
    bool down = false;
    std::uint64_t offset = 0;
    testing::harm harm = harm::flip;
};

class meddler {
  public:
    meddler(config::endpoint target, mischief plan);
    ~meddler();  // after its connections have ended

    [[nodiscard]] const config::endpoint& address() const noexcept { return address_; }

  private:
    void accept_all();
    void relay(int client) const;

    const config::endpoint target_;
    const mischief plan_;
    int listening_;
    config::endpoint address_;
    std::thread thread_;
};

}  // namespace culvert::load::testing
