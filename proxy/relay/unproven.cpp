#include "proxy/relay/unproven.hpp"

#include <algorithm>
#include <utility>

namespace culvert::relay {

address_group group_of(const std::array<std::uint8_t, 16>& address) noexcept {
    static constexpr std::array<std::uint8_t, 12> v4_mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};
    address_group group = address;
    if (!std::equal(v4_mapped.begin(), v4_mapped.end(), address.begin()))
        std::fill(group.begin() + 8, group.end(), std::uint8_t{0});
    return group;
}

unproven_registry::ticket& unproven_registry::ticket::operator=(ticket&& other) noexcept {
    if (this != &other) {
        leave();
        registry_ = std::move(other.registry_);
        at_ = other.at_;
    }
    return *this;
}

void unproven_registry::ticket::leave() noexcept {
    const auto registry = std::exchange(registry_, nullptr);  // the last one: outlives the lock
    if (!registry) return;
    const std::scoped_lock lock(registry->mutex_);
    registry->uncount(*at_);
    registry->entries_.erase(at_);
}

unproven_registry::ticket unproven_registry::enter(const address_group& group, bool capped,
                                                   carrier::time_point now,
                                                   std::function<void()> evict) {
    const std::scoped_lock lock(mutex_);
    entries_.push_back({group, capped, now, std::move(evict)});
    return {shared_from_this(), std::prev(entries_.end())};
}

void unproven_registry::set_caps(std::size_t all, std::size_t per_group) {
    const std::scoped_lock lock(mutex_);
    caps_.all = all;
    caps_.per_group = per_group;
}

std::size_t unproven_registry::sweep(carrier::time_point now) {
    const std::scoped_lock lock(mutex_);
    std::size_t evicted = 0;
    for (entry& e : entries_) {
        if (now - e.since < caps_.counted_after) break;
        if (e.counted || e.evicted) continue;
        e.counted = true;
        ++counted_;
        if (e.capped) ++counted_of_[e.group];
        if (enforce(e)) ++evicted;
    }
    return evicted;
}

bool unproven_registry::enforce(const entry& newest) {
    if (newest.capped && counted_of_[newest.group] > caps_.per_group)
        evict_oldest(&newest.group);
    else if (counted_ > caps_.all)
        evict_oldest(nullptr);
    else
        return false;
    return true;
}

void unproven_registry::evict_oldest(const address_group* of) {
    const auto oldest = std::find_if(entries_.begin(), entries_.end(), [of](const entry& e) {
        return e.counted && (of == nullptr || (e.capped && e.group == *of));
    });
    uncount(*oldest);
    oldest->evicted = true;
    oldest->evict();
}

void unproven_registry::uncount(entry& gone) noexcept {
    if (!gone.counted) return;
    gone.counted = false;
    --counted_;
    if (!gone.capped) return;
    const auto of = counted_of_.find(gone.group);
    if (--of->second == 0) counted_of_.erase(of);
}

std::size_t unproven_registry::size() const {
    const std::scoped_lock lock(mutex_);
    return entries_.size();
}

}  // namespace culvert::relay
