// The servers of a client section: which of them the next session goes to, and where it goes on
// when that one can't be reached.
#pragma once

#include "config/settings.hpp"
#include "proxy/relay/dial.hpp"
#include "proxy/relay/place.hpp"

namespace culvert::relay {

// For all threads.
class uplinks {
  public:
    // `section` is what lines of the log begin with. What is known of a server is taken over from
    // `before`, the section's servers under older settings, if there were any.
    uplinks(const std::string& section, std::vector<config::uplink> settings,
            const uplinks* before = nullptr);

    // One session's way to a server.
    [[nodiscard]] place_search search() const { return place_search(members_); }
    struct choice {
        const config::uplink& to;
        place::visit visit;
    };
    // The next one that should be tried, drawn by weight; none when there is none left.
    [[nodiscard]] std::optional<choice> next(place_search& way) const;

    [[nodiscard]] std::vector<place_status> status() const;

  private:
    [[nodiscard]] std::size_t draw(const std::vector<std::size_t>& candidates) const;

    const std::vector<config::uplink> settings_;
    std::vector<place_search::member> members_;
};

// As dial(), to one of the servers: where one can't be reached, or gives no answer, another is
// tried. One that gives a wrong answer ends it.
awaitable<established> dial_any(executor ex, const config::client_settings& settings,
                                const uplinks& servers, const protocol::client_keys& keys,
                                dial_means with);

}  // namespace culvert::relay
