#include "proxy/protocol/replay_cache.hpp"

#include <algorithm>

#include "crypto/random.hpp"

namespace culvert::protocol {
namespace {

std::uint64_t random_seed() {
    std::array<std::uint8_t, 8> seed{};
    crypto::fill_random(seed);
    return crypto::load64_le(seed.data());
}

}  // namespace

std::size_t replay_cache::salt_hash::operator()(const salt_key& key) const noexcept {
    const std::uint64_t low = crypto::load64_le(key.data()) ^ seed;
    const std::uint64_t high = crypto::load64_le(key.data() + 8) ^ (seed * 0x9e3779b97f4a7c15U);
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(low | 1) * (high | 1);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

replay_cache::replay_cache(std::size_t capacity)
    : capacity_(capacity), known_(0, salt_hash{random_seed()}) {}

replay_cache::verdict replay_cache::insert(crypto::block_view<16> salt, std::uint64_t expiry,
                                           std::uint64_t now) {
    salt_key key;
    std::copy(salt.begin(), salt.end(), key.begin());

    const std::scoped_lock lock(mutex_);
    // In order of arrival, not of expiry: an expired entry behind a live one waits a little longer.
    while (!in_order_.empty() && in_order_.front().expiry + grace < now) drop_oldest();
    if (known_.contains(key)) return verdict::replayed;

    const bool full = known_.size() >= capacity_;
    if (full) drop_oldest();
    known_.insert(key);
    in_order_.push_back({key, expiry});
    return full ? verdict::fresh_with_eviction : verdict::fresh;
}

std::size_t replay_cache::size() const {
    const std::scoped_lock lock(mutex_);
    return known_.size();
}

void replay_cache::drop_oldest() {
    known_.erase(in_order_.front().salt);
    in_order_.pop_front();
}

}  // namespace culvert::protocol
