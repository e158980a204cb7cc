#include "proxy/relay/place.hpp"

#include <algorithm>
#include <cerrno>

#include "proxy/relay/keepalive.hpp"

namespace culvert::relay {
namespace {

using carrier::clock;
using carrier::time_point;
using observe::log;
using observe::log_level;
using std::chrono::milliseconds;

// The most that one place gets of the time for all: two lost SYNs.
constexpr milliseconds longest_share{3'000};
// Whoever tries a place that was down risks his own connection's time.
constexpr milliseconds share_on_trial{1'000};

milliseconds draw_pause(unsigned failures) {
    const milliseconds most =
        std::min(place::longest_pause, place::first_pause * (1 << std::min(failures, 8U)));
    return most - draw_up_to(most / 2);
}

}  // namespace

// ---- one place ----

place::standing place::look_locked(time_point now) const {
    if (up()) return standing::up;
    return tried_ || now < retry_at_ ? standing::down : standing::due;
}

place::standing place::look(time_point now) const {
    const std::scoped_lock lock(mutex_);
    return look_locked(now);
}

std::optional<place::visit> place::begin(standing seen, time_point now) {
    const std::scoped_lock lock(mutex_);
    if (seen != standing::due) return visit(shared_from_this(), false);
    if (look_locked(now) == standing::down) return std::nullopt;
    const bool on_trial = !up();
    tried_ = on_trial;
    return visit(shared_from_this(), on_trial);
}

void place::answered(time_point now) {
    const std::scoped_lock lock(mutex_);
    if (up()) return;
    failures_ = 0;
    const auto lasted = std::chrono::duration_cast<std::chrono::seconds>(now - down_since_);
    if (!tells_) return;
    log(lines_, log_level::info, "{}: {} is up again, after {} s", section_, name_, lasted.count());
}

void place::failed(const std::string& why, time_point now) {
    const std::scoped_lock lock(mutex_);
    ++status_.failures;
    if (!up() && now < retry_at_) return;
    if (up()) {
        down_since_ = now;
        if (tells_) log(lines_, log_level::warning, "{}: {} is down: {}", section_, name_, why);
    }
    retry_at_ = now + draw_pause(failures_++);
}

place_status place::status() const {
    const std::scoped_lock lock(mutex_);
    place_status now = status_;
    now.name = name_;
    now.up = up();
    return now;
}

std::size_t place::open() const {
    const std::scoped_lock lock(mutex_);
    return status_.open;
}

// ---- a visit ----

place::visit::~visit() {
    if (!at_) return;
    decided();
    const std::scoped_lock lock(at_->mutex_);
    if (open_) --at_->status_.open;
}

void place::visit::decided() {
    if (!std::exchange(on_trial_, false)) return;
    const std::scoped_lock lock(at_->mutex_);
    at_->tried_ = false;
}

void place::visit::answered() {
    at_->answered(clock::now());
    decided();
    const std::scoped_lock lock(at_->mutex_);
    open_ = true;
    ++at_->status_.open;
    ++at_->status_.connections;
}

void place::visit::failed(const std::string& why) {
    at_->failed(why, clock::now());
    decided();
}

// ---- a search ----

place::standing place_search::standing_of(std::size_t which, time_point now) const {
    const auto seen = members_[which].at->look(now);
    return checked_ && seen == place::standing::due ? place::standing::down : seen;
}

unsigned place_search::rank_of(std::size_t which, time_point now) const {
    const bool down = standing_of(which, now) == place::standing::down;
    return (down ? 2U : 0U) + (members_[which].backup ? 1U : 0U);
}

std::vector<std::size_t> place_search::best(time_point now) const {
    std::vector<std::size_t> found;
    unsigned best_rank = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (tried_[i]) continue;
        const unsigned rank = rank_of(i, now);
        if (!found.empty() && rank > best_rank) continue;
        if (rank < best_rank) found.clear();
        best_rank = rank;
        found.push_back(i);
    }
    return found;
}

std::optional<place::visit> place_search::begin(std::size_t which, time_point now) {
    const auto seen = standing_of(which, now);
    auto begun = members_[which].at->begin(seen, now);
    if (!begun) return std::nullopt;
    tried_[which] = true;
    on_trial_ = seen == place::standing::due;
    return begun;
}

clock::duration place_search::share_of(clock::duration left) const {
    const auto others = std::count(tried_.begin(), tried_.end(), false);
    if (others == 0) return left;
    return std::min<clock::duration>(left / (others + 1),
                                     on_trial_ ? share_on_trial : longest_share);
}

std::shared_ptr<place> place_called(const std::string& name, const std::string& section,
                                    const std::vector<place_search::member>* known, bool tells) {
    if (known != nullptr)
        for (const auto& member : *known)
            if (member.at->name() == name) return member.at;
    return std::make_shared<place>(section, name, tells);
}

bool is_our_own(const carrier::error_code& ec) noexcept {
    if (ec.category() != boost::system::system_category()) return false;
    constexpr int own[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL};
    return std::find(std::begin(own), std::end(own), ec.value()) != std::end(own);
}

}  // namespace culvert::relay
