// Where a service is: its targets, which of them the next connection goes to, and how many
// connections it has.
#pragma once

#include <atomic>

#include "config/settings.hpp"
#include "proxy/relay/place.hpp"

namespace culvert::relay {

struct service_status {
    std::string name;
    std::size_t open = 0;       // connections that it has now
    std::uint64_t refused = 0;  // for the service's max-connections, since the start
    std::vector<place_status> targets;
};

// For all threads.
class backends {
  public:
    // `section` is what lines of the log begin with. What is known of a target, and the connections
    // that are open, are taken over from `before`, the service of that name under older settings,
    // if there was one.
    backends(const std::string& section, config::service settings,
             const config::session_limits& of_section, const backends* before = nullptr);

    [[nodiscard]] const config::service& settings() const noexcept { return settings_; }
    // Those of the section, where the service has none of its own.
    [[nodiscard]] const config::session_limits& limits() const noexcept { return limits_; }

    // One of the connections that the service may have at a time.
    class seat {
      public:
        explicit seat(std::shared_ptr<std::atomic<std::size_t>> of) : of_(std::move(of)) {}
        seat(seat&&) noexcept = default;
        seat& operator=(seat&&) = delete;
        ~seat() {
            if (of_) --*of_;
        }

      private:
        std::shared_ptr<std::atomic<std::size_t>> of_;
    };
    // None: there are too many.
    [[nodiscard]] std::optional<seat> take_seat();

    // One connection's way to a target.
    [[nodiscard]] place_search search() const {
        return place_search(members_, settings_.check.has_value());
    }
    struct choice {
        const config::endpoint& target;
        place::visit visit;
    };
    // The next one that should be tried; none when there is none left.
    [[nodiscard]] std::optional<choice> next(place_search& way);

    // Of the target at that place of the settings.
    [[nodiscard]] place& target(std::size_t number) const { return *members_[number].at; }

    [[nodiscard]] service_status status() const;

  private:
    [[nodiscard]] std::size_t pick(const std::vector<std::size_t>& candidates);

    const config::service settings_;
    const config::session_limits limits_;
    std::vector<place_search::member> members_;
    std::shared_ptr<std::atomic<std::size_t>> open_;
    std::atomic<std::uint64_t> refused_{0};
    std::atomic<std::size_t> turn_{0};
};

}  // namespace culvert::relay
