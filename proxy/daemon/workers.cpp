#include "proxy/daemon/workers.hpp"

#include <algorithm>

namespace culvert::daemon {

void workers::start() {
    for (worker& w : all_) w.start();
}

void workers::stop() {
    for (worker& w : all_) w.stop();
    for (worker& w : all_) w.join();
}

worker& workers::least_loaded() {
    return *std::min_element(all_.begin(), all_.end(),
                             [](const worker& a, const worker& b) { return a.load() < b.load(); });
}

void workers::add_pool(const std::shared_ptr<const relay::client_context>& section) {
    const std::size_t pool = section->settings.pool;
    const std::size_t first = turn_++;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const std::size_t share = pool / all_.size() + (i < pool % all_.size() ? 1 : 0);
        if (share > 0) all_[(first + i) % all_.size()].add_pool(section, share);
    }
}

void workers::drop_pool(const std::shared_ptr<const relay::client_context>& section) {
    for (worker& w : all_) w.drop_pool(section);
}

void workers::drain_sessions() {
    for (worker& w : all_) w.drain_sessions();
}

void workers::stop_sessions(relay::end_reason why) {
    for (worker& w : all_) w.stop_sessions(why);
}

void workers::stop_removed(const std::shared_ptr<const relay::server_context>& section) {
    for (worker& w : all_) w.stop_removed(section);
}

std::size_t workers::sessions() const noexcept {
    std::size_t sum = 0;
    for (const worker& w : all_) sum += w.load();
    return sum;
}

bool workers::pools_leaving() const noexcept {
    return std::any_of(all_.begin(), all_.end(), [](const worker& w) { return w.pools_leaving(); });
}

}  // namespace culvert::daemon
