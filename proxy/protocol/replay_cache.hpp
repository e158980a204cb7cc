// Remembers the salts of first messages, so that a recorded one opens nothing twice.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>
#include <mutex>

#include "crypto/bytes.hpp"

namespace culvert::protocol {

// One for the whole process, used by every thread. Empty after a restart: PROTOCOL.md section 5.
class replay_cache {
  public:
    static constexpr std::size_t default_capacity = std::size_t{1} << 20;
    // Seconds that an expired salt stays: a thread that read the clock just before the expiry may
    // ask just after another has cleared up.
    static constexpr std::uint64_t grace = 10;

    explicit replay_cache(std::size_t capacity = default_capacity);

    enum class verdict { fresh, fresh_with_eviction, replayed };

    // Looks up the first 16 bytes of a salt and remembers them until `expiry`. Times are Unix
    // seconds. A full cache drops its oldest entry and says so: that weakens resistance against
    // probing, never the secrecy of data.
    verdict insert(crypto::block_view<16> salt, std::uint64_t expiry, std::uint64_t now);

    [[nodiscard]] std::size_t size() const;

  private:
    using salt_key = std::array<std::uint8_t, 16>;
    struct salt_hash {
        std::uint64_t seed;  // a client chooses its salts: without it, it could choose collisions
        std::size_t operator()(const salt_key& key) const noexcept;
    };
    struct entry {
        salt_key salt;
        std::uint64_t expiry;
    };

    void drop_oldest();

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::deque<entry> in_order_;
    boost::unordered_flat_set<salt_key, salt_hash> known_;
};

}  // namespace culvert::protocol
