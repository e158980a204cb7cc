// The connections that have not yet shown a key, and the caps on them (PROTOCOL.md section 5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "proxy/carrier/net.hpp"

namespace culvert::relay {

// Whose connections are counted together: an IPv4 address or an IPv6 /64.
using address_group = std::array<std::uint8_t, 16>;
// `address` as carrier::peer_address gives it: IPv4 as ::ffff:a.b.c.d.
[[nodiscard]] address_group group_of(const std::array<std::uint8_t, 16>& address) noexcept;

struct unproven_caps {
    std::size_t all = 1'024;
    std::size_t per_group = 64;
    // Younger connections are never counted: a burst of honest clients is none of our business.
    carrier::clock::duration counted_after = std::chrono::seconds{2};
};

// Used by every thread. All waiting states look alike here: another order of eviction would tell
// a prober which state he is in.
class unproven_registry : public std::enable_shared_from_this<unproven_registry> {
    struct entry;
    using entries = std::list<entry>;

  public:
    // Leaves the registry when it ends, at the latest.
    class ticket {
      public:
        ticket() = default;
        ticket(ticket&& other) noexcept = default;
        ticket& operator=(ticket&& other) noexcept;
        ~ticket() { leave(); }
        void leave() noexcept;

      private:
        friend unproven_registry;
        ticket(std::shared_ptr<unproven_registry> registry, entries::iterator at)
            : registry_(std::move(registry)), at_(at) {}

        std::shared_ptr<unproven_registry> registry_;
        entries::iterator at_;
    };

    explicit unproven_registry(unproven_caps caps) : caps_(caps) {}

    // `evict` is called at most once, from any thread and under the registry's lock, when this
    // connection has to go: it must only post. `capped`: false for addresses whose group has no
    // cap of its own.
    [[nodiscard]] ticket enter(const address_group& group, bool capped, carrier::time_point now,
                               std::function<void()> evict);

    void set_caps(std::size_t all, std::size_t per_group);

    // Counts those that have grown old enough, and evicts the oldest over a cap. Returns how many.
    std::size_t sweep(carrier::time_point now);

    [[nodiscard]] std::size_t size() const;

  private:
    struct entry {
        address_group group;
        bool capped;
        carrier::time_point since;
        std::function<void()> evict;
        bool counted = false;
        bool evicted = false;
    };

    bool enforce(const entry& newest);
    void evict_oldest(const address_group* of);
    void uncount(entry& gone) noexcept;

    unproven_caps caps_;
    mutable std::mutex mutex_;
    entries entries_;  // oldest first
    std::size_t counted_ = 0;
    std::map<address_group, std::size_t> counted_of_;  // the capped ones
};

}  // namespace culvert::relay
