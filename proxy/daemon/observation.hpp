// What the daemon tells about itself: the counters of its sections, and how it is.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "proxy/observe/process.hpp"
#include "proxy/observe/registry.hpp"
#include "proxy/protocol/replay_cache.hpp"

namespace culvert::daemon {

// What a section says of itself.
[[nodiscard]] observe::section_info info_of(const config::server_settings& from);
[[nodiscard]] observe::section_info info_of(const config::client_settings& from);

// To be made before the process confines itself; `replays` outlives it. On the main thread.
class observation {
  public:
    enum class phase : std::uint8_t { starting, ready, draining };

    observation(std::size_t threads, const protocol::replay_cache& replays)
        : threads_(threads), replays_(replays), sections_(threads) {}

    [[nodiscard]] observe::registry& counters() noexcept { return sections_; }
    void enter(phase now) noexcept { phase_ = now; }
    [[nodiscard]] observe::status read();

  private:
    const std::size_t threads_;
    const protocol::replay_cache& replays_;
    observe::registry sections_;
    const observe::process_reader process_;
    const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    phase phase_ = phase::starting;
};

}  // namespace culvert::daemon
