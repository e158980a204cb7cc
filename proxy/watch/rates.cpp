#include "proxy/watch/rates.hpp"

namespace culvert::watch {

std::optional<double> quantile(const histogram_reading& before, const histogram_reading& now,
                               double share) {
    if (now.count <= before.count) return {};
    const double wanted = share * static_cast<double>(now.count - before.count);
    double below = 0;
    double lower = 0;
    for (std::size_t i = 0; i < now.buckets.size(); ++i) {
        const std::uint64_t had = i < before.buckets.size() ? before.buckets[i].count : 0;
        const auto up_to = static_cast<double>(now.buckets[i].count) - static_cast<double>(had);
        const double edge = now.buckets[i].at_most;
        if (up_to >= wanted)
            return up_to > below ? lower + (edge - lower) * (wanted - below) / (up_to - below)
                                 : edge;
        below = up_to;
        lower = edge;
    }
    return lower;
}

rates::rates(const reading& before, const reading& now) {
    const bool same = before.pid == now.pid && before.started == now.started;
    if (!same || now.uptime <= before.uptime) return;
    before_ = &before;
    seconds_ = now.uptime - before.uptime;
}

std::optional<double> rates::of(std::uint64_t before, std::uint64_t now) const {
    if (before_ == nullptr || now < before) return {};
    return static_cast<double>(now - before) / seconds_;
}

rates::both_ways rates::of(const traffic* before, const traffic& now) const {
    if (before == nullptr) return {};
    return {of(before->to_tunnel, now.to_tunnel), of(before->from_tunnel, now.from_tunnel)};
}

}  // namespace culvert::watch
