#include "proxy/relay/backends.hpp"

#include <algorithm>

namespace culvert::relay {
namespace {

config::session_limits limits_of(const config::service& service, config::session_limits limits) {
    if (service.idle) limits.idle = *service.idle;
    return limits;
}

}  // namespace

backends::backends(const std::string& section, config::service settings,
                   const config::session_limits& of_section, const backends* before)
    : settings_(std::move(settings)),
      limits_(limits_of(settings_, of_section)),
      open_(before != nullptr ? before->open_ : std::make_shared<std::atomic<std::size_t>>(0)),
      refused_(before != nullptr ? before->refused_.load() : 0) {
    const std::string called = section + ": service " + settings_.name;
    for (const auto& target : settings_.targets)
        members_.push_back(
            {place_called(target.text(), called, before != nullptr ? &before->members_ : nullptr,
                          settings_.targets.size() > 1 || settings_.check)});
}

std::optional<backends::seat> backends::take_seat() {
    const std::size_t open = ++*open_;
    seat taken(open_);
    if (!settings_.connections || open <= *settings_.connections) return taken;
    ++refused_;
    return std::nullopt;
}

std::optional<backends::choice> backends::next(place_search& way) {
    for (;;) {
        const auto now = carrier::clock::now();
        const auto candidates = way.best(now);
        if (candidates.empty()) return std::nullopt;
        const std::size_t picked = pick(candidates);
        if (auto visit = way.begin(picked, now))
            return choice{settings_.targets[picked], std::move(*visit)};
    }
}

std::size_t backends::pick(const std::vector<std::size_t>& candidates) {
    if (settings_.balance == config::balance::first) return candidates.front();
    const std::size_t turn = turn_++ % candidates.size();
    if (settings_.balance == config::balance::round_robin) return candidates[turn];
    // Of those with the fewest connections the next one in turn.
    std::size_t best = candidates[turn];
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        const std::size_t other = candidates[(turn + i) % candidates.size()];
        if (target(other).open() < target(best).open()) best = other;
    }
    return best;
}

service_status backends::status() const {
    service_status now{settings_.name, *open_, refused_, {}};
    for (const auto& member : members_) now.targets.push_back(member.at->status());
    return now;
}

}  // namespace culvert::relay
