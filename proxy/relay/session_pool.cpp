#include "proxy/relay/session_pool.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "proxy/observe/log.hpp"
#include "proxy/relay/dial.hpp"
#include "proxy/relay/keepalive.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using observe::log;
using observe::log_level;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Whoever took a session has its first bytes on their way before a new one is made.
constexpr milliseconds after_taking{1};

// Handshakes at the same time.
constexpr std::size_t most_dials = 32;

constexpr milliseconds first_pause{500};
constexpr milliseconds longest_pause{10'000};

// A server that has no place for the session says so within a round trip.
constexpr seconds trial{1};
constexpr seconds young{5};

// A server that goes away takes spares of all its clients with it at one moment: they shall not all
// be at the next server in the following one. Whoever comes meanwhile makes a session of its own.
constexpr milliseconds longest_scatter{1000};

// Names change their addresses, and servers behind one address their load.
constexpr seconds longest_life{300};

milliseconds pause_after(unsigned failures) {
    const milliseconds most = std::min(longest_pause, first_pause * (1 << std::min(failures, 8U)));
    return most - draw_up_to(most / 2);
}

// A spare is a small part of max-age old when it is opened, and the clock of max-age begins then.
milliseconds draw_life(const config::session_limits& limits) {
    milliseconds most = longest_life;
    if (limits.age) most = std::min(most, milliseconds(*limits.age) / 4);
    return most - draw_up_to(most / 5);
}

}  // namespace

session_pool::session_pool(std::shared_ptr<const client_context> context, std::size_t size,
                           thread_context thread)
    : context_(std::move(context)), size_(size), thread_(thread), timer_(thread.executor) {}

void session_pool::stop() {
    stopped_ = true;
    timer_.cancel();
    stopping_.request();
    distrust();
}

void session_pool::distrust() {
    for (const spare& one : spares_) one->stop(end_reason::shutdown);
    scatter();
}

std::size_t session_pool::ready() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(spares_.begin(), spares_.end(), [](const spare& s) { return s->ready(); }));
}

std::optional<established> session_pool::take() {
    for (;;) {
        spare best;
        for (const spare& one : spares_)
            if (one->ready() && (!best || one->heard() > best->heard())) best = one;
        if (!best) return std::nullopt;
        auto got = best->take();
        if (got) return got;
    }
}

// ---- when to make new ones ----

void session_pool::look_again_at(time_point when) {
    if (stopped_ || when >= look_at_) return;
    look_at_ = when;
    timer_.expires_at(when);
    timer_.async_wait([weak = weak_from_this()](const error_code& ec) {
        const auto self = weak.lock();
        if (ec || !self) return;
        self->look_at_ = time_point::max();
        self->refill();
    });
}

void session_pool::refill() {
    if (stopped_) return;
    if (clock::now() < not_before_) {
        look_again_at(not_before_);
        return;
    }
    if (on_trial_) recovered();
    // A dial may have failed by the time that it is begun.
    while (clock::now() >= not_before_ && wants_more()) make_one();
}

bool session_pool::wants_more() const noexcept {
    const std::size_t at_once = failures_ > 0 ? 1 : most_dials;
    return spares_.size() - leaving_ + dialling_ < size_ && dialling_ < at_once;
}

void session_pool::server_is_there() {
    if (!unreachable_) return;
    unreachable_ = false;
    not_before_ = clock::now();
    look_again_at(not_before_);
}

// ---- one of them ----

void session_pool::make_one() {
    ++dialling_;
    asio::co_spawn(thread_.executor, life_of_one(),
                   [self = shared_from_this()](const std::exception_ptr& e) {
                       if (e) std::rethrow_exception(e);
                   });
}

awaitable<void> session_pool::life_of_one() {
    const spare made = co_await dial_one();
    --dialling_;
    if (made) co_await keep(made);
    look_again_at(std::max(not_before_, clock::now() + after_taking));
}

// None when it does not work out.
awaitable<session_pool::spare> session_pool::dial_one() {
    const auto& settings = context_->settings;
    try {
        dial_means with{thread_.names, thread_.ephemeral_keys(), &stopping_};
        with.counts = &context_->counters->handshakes(thread_.number);
        established far =
            co_await dial_any(thread_.executor, settings, context_->servers, context_->keys, with);
        co_await far.writer->send(protocol::record_type::pad);
        const time_point end = clock::now() + draw_life(settings.limits);
        co_return std::make_shared<spare_session>(std::move(far), settings.limits, thread_.buffers,
                                                  end);
    } catch (const session_end& why) {
        failed(why, true);
    } catch (const std::exception& e) {
        failed(session_end(end_reason::connect_failed, e.what()), true);
    }
    co_return nullptr;
}

awaitable<void> session_pool::keep(spare kept) {
    if (failures_ > 0) {
        on_trial_ = true;
        not_before_ = clock::now() + trial;
        look_again_at(not_before_);
    } else {
        look_again_at(clock::now());  // more may be wanted than were dialled at once
    }
    if (stopped_) kept->stop(end_reason::shutdown);
    spares_.push_back(kept);
    context_->counters->pool_ready(+1);
    std::optional<session_end> ended;
    try {
        co_await kept->keep();
    } catch (const session_end& why) {
        ended = why;
    } catch (const std::exception& e) {
        ended.emplace(end_reason::tunnel_lost, e.what());
    }
    context_->counters->pool_ready(-1);
    if (ended) {
        ++leaving_;
        judge_end(*kept, *ended);
        look_again_at(std::max(not_before_, clock::now() + after_taking));
        co_await kept->leave(*ended);
        --leaving_;
    }
    std::erase(spares_, kept);
}

void session_pool::judge_end(const spare_session& gone, const session_end& why) {
    log(log_level::debug, "client.{}: pool: a session ended: {}", context_->settings.name,
        why.text());
    const bool by_us = why.why() == end_reason::shutdown;
    if (by_us) return;
    if (clock::now() < gone.made() + young)
        failed(why, false);
    else
        scatter();
}

void session_pool::scatter() {
    const time_point now = clock::now();
    if (now >= not_before_) not_before_ = now + draw_up_to(longest_scatter);
}

void session_pool::failed(const session_end& why, bool unreachable) {
    if (stopped_) return;
    context_->counters->pool_failed();
    unreachable_ = unreachable;
    on_trial_ = false;
    // Of those that were tried at the same time the first one counts.
    const time_point now = clock::now();
    if (failures_ == 0 || now >= not_before_) not_before_ = now + pause_after(failures_++);
    if (!context_->pool_fails.exchange(true))
        log(log_level::warning, "client.{}: pool: no session could be made ready: {}; trying again",
            context_->settings.name, why.text());
}

void session_pool::recovered() {
    failures_ = 0;
    unreachable_ = false;
    on_trial_ = false;
    if (context_->pool_fails.exchange(false))
        log(log_level::info, "client.{}: pool: sessions are made ready again",
            context_->settings.name);
}

}  // namespace culvert::relay
