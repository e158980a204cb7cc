#include "proxy/relay/uplinks.hpp"

#include <algorithm>

#include "proxy/relay/keepalive.hpp"

namespace culvert::relay {
namespace {

// HOST:PORT, and /PATH where there is one.
std::string name_of(const config::uplink& to) {
    return to.place.text() + (to.carrier == config::carrier::tcp ? "" : to.path);
}

// Without the place, which the line of the log has already.
std::string reason_of(const config::uplink& to, const session_end& why) {
    const std::string place = to.place.text() + ": ";
    const std::string& detail = why.detail();
    return detail.starts_with(place) ? detail.substr(place.size()) : detail;
}

// Another server may do better.
bool may_go_on(const session_end& why) noexcept {
    return why.why() == end_reason::connect_failed || why.why() == end_reason::no_answer;
}

// One session's way through the servers.
class search {
  public:
    search(const executor& ex, const config::client_settings& settings, const uplinks& servers,
           const protocol::client_keys& keys, const dial_means& with)
        : ex_(ex),
          settings_(settings),
          servers_(servers),
          keys_(keys),
          with_(with),
          way_(servers.search()),
          time_left_(settings.limits.connect) {}

    awaitable<established> run();

  private:
    awaitable<std::optional<established>> try_one(uplinks::choice& chosen);
    void judge(uplinks::choice& chosen, const session_end& why, clock::duration took);
    [[nodiscard]] bool cancelled() const {
        return with_.cancel != nullptr && with_.cancel->requested();
    }

    const executor ex_;
    const config::client_settings& settings_;
    const uplinks& servers_;
    const protocol::client_keys& keys_;
    const dial_means with_;
    place_search way_;
    clock::duration time_left_;  // of connect-timeout
    std::optional<session_end> failed_;
};

awaitable<established> search::run() {
    for (;;) {
        auto chosen = servers_.next(way_);
        if (!chosen) throw *failed_;
        auto made = co_await try_one(*chosen);
        if (made) co_return std::move(*made);
    }
}

awaitable<std::optional<established>> search::try_one(uplinks::choice& chosen) {
    dial_means with = with_;
    with.to = &chosen.to;
    with.connect_time = way_.share_of(time_left_);
    const auto began = clock::now();
    std::optional<established> made;
    std::optional<session_end> why;
    try {
        established far = co_await dial(ex_, settings_, keys_, with);
        made.emplace(std::move(far));
    } catch (const session_end& end) {
        why = end;
    }
    if (why)
        judge(chosen, *why, std::min(clock::now() - began, *with.connect_time));
    else
        chosen.visit.answered();
    co_return made;
}

// Throws `why` where no other server is to be tried.
void search::judge(uplinks::choice& chosen, const session_end& why, clock::duration took) {
    if (cancelled() || !may_go_on(why)) throw why;
    chosen.visit.failed(reason_of(chosen.to, why));
    time_left_ = std::max<clock::duration>(time_left_ - took, std::chrono::seconds{1});
    failed_ = why;
}

}  // namespace

uplinks::uplinks(const std::string& section, std::vector<config::uplink> settings,
                 const uplinks* before)
    : settings_(std::move(settings)) {
    for (const auto& to : settings_)
        members_.push_back(
            {place_called(name_of(to), section, before != nullptr ? &before->members_ : nullptr,
                          settings_.size() > 1),
             to.backup});
}

std::optional<uplinks::choice> uplinks::next(place_search& way) const {
    for (;;) {
        const auto now = clock::now();
        const auto candidates = way.best(now);
        if (candidates.empty()) return std::nullopt;
        const std::size_t drawn = draw(candidates);
        if (auto visit = way.begin(drawn, now)) return choice{settings_[drawn], std::move(*visit)};
    }
}

std::size_t uplinks::draw(const std::vector<std::size_t>& candidates) const {
    unsigned sum = 0;
    for (const std::size_t one : candidates) sum += settings_[one].weight;
    auto drawn = static_cast<unsigned>(draw_up_to(std::chrono::milliseconds{sum - 1}).count());
    for (const std::size_t one : candidates) {
        if (drawn < settings_[one].weight) return one;
        drawn -= settings_[one].weight;
    }
    return candidates.back();
}

std::vector<place_status> uplinks::status() const {
    std::vector<place_status> now;
    for (const auto& member : members_) now.push_back(member.at->status());
    return now;
}

awaitable<established> dial_any(executor ex, const config::client_settings& settings,
                                const uplinks& servers, const protocol::client_keys& keys,
                                dial_means with) {
    search way(ex, settings, servers, keys, with);
    co_return co_await way.run();
}

}  // namespace culvert::relay
