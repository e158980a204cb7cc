#include "proxy/relay/tunnel.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "proxy/relay/goodbye.hpp"
#include "proxy/relay/keepalive.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

}  // namespace

tunnel::tunnel(stream_socket plain, established other_end, const config::session_limits& limits,
               buffer_pool& pool, kept_stream* kept, observe::meter* counts,
               std::unique_ptr<throttle> rate)
    : plain_(std::move(plain)),
      writer_(std::move(other_end.writer)),
      opener_(std::move(other_end.opener)),
      leftover_(std::move(other_end.leftover)),
      limits_(limits),
      pool_(pool),
      kept_(kept),
      counts_(counts),
      rate_(std::move(rate)),
      watch_timer_(plain_.get_executor()),
      keepalive_(draw_keepalive(limits.keepalive)) {}

awaitable<void> tunnel::run() {
    try {
        co_await relay();
    } catch (const std::exception& e) {  // no memory: the steps that are to come must not be left
        fail(session_end(end_reason::tunnel_lost, e.what()));
    }
    co_await part();
}

awaitable<void> tunnel::relay() {
    out_.drained = in_.drained = leftover_.empty();  // the wait says whether anything has come
    take(&tunnel::seal_some);
    take(&tunnel::open_some);
    while (!over()) {
        if (complete() && !finished_) finish();
        const time_point now = clock::now();
        check_deadlines(now);
        if (!over()) keep_alive(now);
        if (over()) break;
        watch_timer_.expires_at(next_check(now));
        co_await watch_timer_.async_wait(no_throw);
    }
}

// A coroutine of its own: what it needs is not there while the tunnel runs.
awaitable<void> tunnel::part() {
    // The application first: it must not wait for the other end.
    const bool begins_anew =
        failed_ && kept_ != nullptr && !stop_ && kept_->may_begin_anew(*failed_);
    if (failed_ && !begins_anew) carrier::reset(plain_);
    co_await settle();
    if (!failed_) {
        carrier::close_quietly(plain_);
        writer_->to().close();
        co_return;
    }
    co_await say_why(*writer_, *failed_, pool_);
    throw session_end(*failed_);
}

void tunnel::stop(end_reason why) {
    stop_ = why;
    wake();
}

// ---- steps ----

// What a step throws ends the session.
void tunnel::take(step next) noexcept {
    try {
        (this->*next)();
    } catch (const session_end& e) {
        fail(e);
    } catch (const std::bad_alloc&) {
        fail(session_end(end_reason::tunnel_lost, "no memory"));
    } catch (const std::exception& e) {
        fail(session_end(end_reason::tunnel_lost, e.what()));
    }
}

void tunnel::when(stream_socket& socket, stream_socket::wait_type what, step next) {
    socket.async_wait(what, [this, next](const error_code& ec) {
        --waiting_;
        go_on(ec, next);
    });
    ++waiting_;  // unless there was no memory to wait
}

void tunnel::let_others_run(step next) {
    asio::post(plain_.get_executor(), [this, next] {
        --waiting_;
        go_on({}, next);
    });
    ++waiting_;
}

// Until the next portion is there. Whoever is held back is not idle.
void tunnel::rest(share& of, step next) {
    const time_point until = of.ready(clock::now());
    last_stream_ = std::max(last_stream_, until);
    of.pause.expires_at(until);
    of.pause.async_wait([this, next](const error_code& ec) {
        --waiting_;
        go_on(ec, next);
    });
    ++waiting_;
}

void tunnel::go_on(const error_code& ec, step next) noexcept {
    if (over())
        wake();
    else if (ec && !finished_)
        fail(session_end(end_reason::tunnel_lost, ec.message()));
    else
        take(next);
}

// Until no step is to come that would find the tunnel gone.
awaitable<void> tunnel::settle() {
    out_.memory.reset();
    in_.memory.reset();
    carrier::cancel(plain_);
    writer_->to().cancel();
    if (rate_) {
        rate_->out.pause.cancel();
        rate_->in.pause.cancel();
    }
    while (waiting_ > 0) {
        watch_timer_.expires_at(time_point::max());
        co_await watch_timer_.async_wait(no_throw);
    }
}

// ---- the end ----

void tunnel::fail(const session_end& why) {
    if (!failed_) failed_ = std::make_unique<session_end>(why);
    wake();
}

void tunnel::end(end_reason why, std::string detail) {
    throw session_end(why, std::move(detail));
}

// Both directions have ended: the application's stream is whole, so its socket may close without a
// reset, and the other end is told that we are through. That may have to wait: beside the
// deadlines.
void tunnel::finish() {
    finished_ = true;
    carrier::close_quietly(plain_);
    asio::co_spawn(plain_.get_executor(), writer_->to().finish(),
                   [this](const std::exception_ptr&, const error_code&) {
                       --waiting_;
                       took_leave_ = true;
                       if (over()) wake();
                   });
    ++waiting_;  // unless there was no memory for it
}

// Behind both ENDs. He may be faster with his goodbye than we are with ours, and reads it still.
void tunnel::other_left() {
    other_left_ = true;
    listening_ = clock::now();  // for as long as ours takes
    if (!finished_) finish();
    wake();
}

// ---- deadlines ----

// When the other end counts as dead, if nothing more happens.
time_point tunnel::death(time_point now) const {
    // Not listening: look again later, the clock begins when listening does.
    const time_point of_silence = listening_.value_or(now) + limits_.dead_peer;
    if (!unfinished_ || both_ended()) return of_silence;
    return std::min(of_silence, *unfinished_ + time_for_a_record(limits_.dead_peer));
}

void tunnel::check_deadlines(time_point now) {
    const bool dead = now >= death(now);
    if (finished_) {
        // All is said and delivered; only the other end's goodbye is missing.
        if (dead || stop_) writer_->to().reset();
        return;
    }
    if (stop_)
        fail(session_end(*stop_));
    else if (dead)
        fail(session_end(end_reason::dead_peer, unfinished_ ? "a record stayed in parts" : ""));
    else if (limits_.idle && now - last_stream_ >= *limits_.idle)
        fail(session_end(end_reason::idle));
    else if (limits_.age && now - began_ >= *limits_.age)
        fail(session_end(end_reason::too_old));
}

void tunnel::keep_alive(time_point now) {
    if (finished_ || now < std::max(writer_->last_sent(), keepalive_skipped_) + keepalive_) return;
    keepalive_ = draw_keepalive(limits_.keepalive);
    keepalive_skipped_ = now;
    // Bytes that wait for the peer already show him that we live; one more would only wait too.
    if (writer_->idle()) writer_->begin_empty(protocol::record_type::pad);
    try {
        writer_->flush();
    } catch (const session_end& e) {
        fail(e);
    }
}

time_point tunnel::next_check(time_point now) const {
    const time_point dead = death(now);
    if (finished_) return dead;
    time_point next = std::max(writer_->last_sent(), keepalive_skipped_) + keepalive_;
    next = std::min(next, dead);
    if (limits_.idle) next = std::min(next, last_stream_ + *limits_.idle);
    if (limits_.age) next = std::min(next, began_ + *limits_.age);
    return next;
}

}  // namespace culvert::relay
