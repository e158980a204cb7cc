#include "proxy/relay/tunnel.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

#include "proxy/relay/goodbye.hpp"
#include "proxy/relay/keepalive.hpp"

namespace culvert::relay {
namespace {

using carrier::timer;
using carrier::use_awaitable;
namespace asio = boost::asio;

constexpr auto no_throw = asio::as_tuple(use_awaitable);

// So many rounds of a direction without waiting, then others get their turn.
constexpr unsigned rounds_at_once = 2;

awaitable<void> let_others_run() {
    co_await asio::post(use_awaitable);
}

}  // namespace

tunnel::tunnel(carrier::stream_socket plain, established other_end,
               const config::session_limits& limits, buffer_pool& pool, kept_stream* kept)
    : plain_(std::move(plain)),
      writer_(std::move(other_end.writer)),
      opener_(std::move(other_end.opener)),
      leftover_(std::move(other_end.leftover)),
      limits_(limits),
      pool_(pool),
      kept_(kept),
      watch_timer_(plain_.get_executor()),
      keepalive_(draw_keepalive(limits.keepalive)) {}

awaitable<void> tunnel::run() {
    using namespace asio::experimental::awaitable_operators;
    std::optional<session_end> failed;
    try {
        co_await (seal_direction() && open_direction() && watch());
    } catch (const session_end& e) {
        failed = first_end_ ? *first_end_ : e;
    } catch (const std::exception& e) {  // several at once among them
        failed = first_end_ ? *first_end_ : session_end(end_reason::tunnel_lost, e.what());
    }
    if (!failed) {
        carrier::close_quietly(plain_);
        writer_->to().close();
        co_return;
    }
    // The application first: it must not wait for the other end.
    if (kept_ == nullptr || stop_ || !kept_->may_begin_anew(*failed)) carrier::reset(plain_);
    co_await say_why(*writer_, *failed, pool_);
    throw *failed;
}

void tunnel::stop(end_reason why) {
    stop_ = why;
    watch_timer_.cancel();
}

void tunnel::end(end_reason why, std::string detail) {
    if (!first_end_) first_end_.emplace(why, std::move(detail));
    throw *first_end_;
}

// ---- plaintext to records ----

awaitable<void> tunnel::seal_direction() {
    // Not as `for (;;) … if (co_await …) break;`: g++ 12 lays that frame out wrongly.
    bool ended = false;
    while (!ended) {
        co_await wait_for_plain();
        ended = co_await seal_available();
    }
    co_await end_sealing();
}

// Holds no buffer while nothing comes.
awaitable<void> tunnel::wait_for_plain() {
    const error_code ec = co_await carrier::wait_readable(plain_);
    if (ec) end(end_reason::application_reset, ec.message());
}

// Moves what is there. True at the end of the application's stream.
awaitable<bool> tunnel::seal_available() {
    const auto memory = pool_.take();
    for (unsigned round = 1;; ++round) {
        const std::size_t payload = ramp_.size(clock::now());
        const io_result got = read_slots(*memory, payload);
        if (got.ec == asio::error::would_block) co_return false;
        if (got.ec == asio::error::eof) co_return true;
        if (got.ec) end(end_reason::application_reset, got.ec.message());

        const carrier::turn::holder held = co_await writer_->take_turn();
        if (kept_ != nullptr) kept_->sent(memory->parts, got.size);
        co_await writer_->write(seal_slots(*memory, payload, got.size));
        last_stream_ = clock::now();
        ramp_.sent(got.size, last_stream_);
        moved_.to_tunnel += got.size;
        if (round % rounds_at_once == 0) co_await let_others_run();
    }
}

// Reads straight into the payloads of slots: header 4 || payload || tag 16, one behind the other.
io_result tunnel::read_slots(buffer& into, std::size_t payload) {
    const std::size_t slot = payload + protocol::record_overhead;
    const std::size_t count = std::min(buffer::max_parts, buffer::size / slot);
    for (std::size_t i = 0; i < count; ++i)
        into.parts[i] = {into.memory.data() + i * slot + protocol::header_size, payload};
    return carrier::try_read(plain_, std::span(into.parts).first(count));
}

bytes tunnel::seal_slots(buffer& in, std::size_t payload, std::size_t size) {
    std::size_t at = 0;
    while (size > 0) {
        const std::size_t part = std::min(payload, size);
        const std::size_t slot = part + protocol::record_overhead;
        writer_->seal(protocol::record_type::data, bytes(in.memory).subspan(at, slot));
        at += slot;
        size -= part;
    }
    return bytes(in.memory).first(at);
}

awaitable<void> tunnel::end_sealing() {
    if (kept_ != nullptr) kept_->sent_end();
    co_await writer_->send(protocol::record_type::end);
    co_await finish_if_done();
    if (both_ended()) co_return;
    // Nobody reads this socket any more, but its failure must still reach the other end.
    const error_code ec = co_await carrier::wait_failed(plain_);
    if (ec && !both_ended()) end(end_reason::application_reset, ec.message());
}

// ---- records to plaintext ----

// Received bytes: [0, opened) is done with, [opened - held, size) belongs to records still to be
// opened.
struct tunnel::inbox {
    buffer_pool::handle memory;
    std::size_t opened = 0;
    std::size_t size = 0;
    std::size_t parts = 0;  // entries of memory->parts to be written

    [[nodiscard]] bytes room() const { return bytes(memory->memory).subspan(size); }
    [[nodiscard]] bytes unopened() const {
        return bytes(memory->memory).subspan(opened, size - opened);
    }
};

awaitable<void> tunnel::open_direction() {
    inbox in;
    bool more = co_await receive(in);
    for (unsigned round = 1; more; ++round) {
        co_await open_received(in);
        if (round % rounds_at_once == 0) co_await let_others_run();
        more = co_await receive(in);
    }
    done_ = true;
    watch_timer_.cancel();
}

// Waits for bytes and takes them behind the unfinished record. False at the clean end.
awaitable<bool> tunnel::receive(inbox& in) {
    listening_ = clock::now();
    const io_result got = co_await read_records(in);
    listening_.reset();
    if (both_ended()) {
        // Whatever still comes changes nothing; a reset now is as good as an end.
        in.memory.reset();
        co_return !got.ec;
    }
    if (got.ec == asio::error::eof) end(end_reason::tunnel_lost, "it ended before the stream did");
    if (got.ec) end(end_reason::tunnel_lost, got.ec.message());
    in.size += got.size;
    co_return true;
}

// Tries first; waits with no more memory than an unfinished record takes.
awaitable<io_result> tunnel::read_records(inbox& in) {
    for (;;) {
        make_room(in, opener_.held());
        if (!in.memory) in.memory = pool_.take();
        if (!leftover_.empty()) {
            const io_result got{{}, leftover_.size()};
            std::copy(leftover_.begin(), leftover_.end(), in.room().begin());
            leftover_ = std::string();
            co_return got;
        }
        const io_result got = co_await writer_->to().read_available(in.room());
        if (got.ec != asio::error::would_block) co_return got;
        if (opener_.held() == 0) in.memory.reset();
        const error_code ec = co_await writer_->to().wait_readable();
        if (ec) co_return io_result{ec};
    }
}

void tunnel::make_room(inbox& in, std::size_t held) {
    if (in.memory && held > 0 && in.room().size() < protocol::max_payload)
        std::memmove(in.memory->memory.data(), in.memory->memory.data() + in.size - held, held);
    else if (held > 0)
        return;
    in.opened = in.size = held;
}

// Opens all that has come and writes what has verified to the application.
awaitable<void> tunnel::open_received(inbox& in) {
    while (in.memory && in.opened < in.size && !both_ended()) {
        const auto done = opener_.feed(in.unopened(), in.memory->records);
        in.opened += done.consumed;
        const std::size_t size = collect(in, done.records);
        if (size > 0) {
            const error_code ec =
                co_await carrier::write_all(plain_, std::span(in.memory->parts).first(in.parts));
            if (ec) end(end_reason::application_reset, ec.message());
            moved_.from_tunnel += size;
            last_stream_ = clock::now();
        }
        if (!both_ended()) judge(done.fault);  // after both ENDs nothing counts that still comes
        if (opener_.ended()) {
            carrier::end_writing(plain_);
            co_await finish_if_done();
        }
    }
}

// Ends the session on an ALERT, or on a record that may not be.
void tunnel::judge(protocol::error fault) {
    if (alert_) end(end_reason::alerted, text_of(*alert_));
    if (fault != protocol::error::none)
        end(end_reason::bad_record, make_error_code(fault).message() + ", epoch " +
                                        std::to_string(opener_.epoch()) + ", record " +
                                        std::to_string(opener_.index()));
}

// Lists the stream bytes of the opened records for one gathered write.
std::size_t tunnel::collect(inbox& in, std::size_t records) {
    std::size_t size = 0;
    in.parts = 0;
    for (const auto& record : std::span(in.memory->records).first(records)) {
        if (kept_ != nullptr) kept_->received(record.type, record.payload);
        if (record.type == protocol::record_type::data) {
            in.memory->parts[in.parts++] = {record.payload.data(), record.payload.size()};
            size += record.payload.size();
        } else if (record.type == protocol::record_type::alert) {
            alert_ = protocol::alert_from(record.payload[0]);
        }
    }
    return size;
}

// ---- the end ----

// Once both directions have ended: the application's stream is whole, so its socket may close
// without a reset, and the other end is told that we are through.
awaitable<void> tunnel::finish_if_done() {
    if (!both_ended() || finished_) co_return;
    finished_ = true;
    carrier::close_quietly(plain_);
    const carrier::turn::holder held = co_await writer_->take_turn();  // our END may be on its way
    co_await writer_->to().finish();
}

// ---- deadlines ----

awaitable<void> tunnel::watch() {
    while (!done_) {
        const time_point now = clock::now();
        check_deadlines(now);
        co_await keep_alive(now);
        watch_timer_.expires_at(next_check(now));
        co_await watch_timer_.async_wait(no_throw);
    }
}

void tunnel::check_deadlines(time_point now) {
    const bool dead = listening_ && now - *listening_ >= limits_.dead_peer;
    if (finished_) {
        // All is said and delivered; only the other end's goodbye is missing.
        if (dead || stop_) writer_->to().reset();
        return;
    }
    if (stop_) end(*stop_);
    if (dead) end(end_reason::dead_peer);
    if (limits_.idle && now - last_stream_ >= *limits_.idle) end(end_reason::idle);
    if (limits_.age && now - began_ >= *limits_.age) end(end_reason::too_old);
}

awaitable<void> tunnel::keep_alive(time_point now) {
    if (finished_ || now < std::max(writer_->last_sent(), keepalive_skipped_) + keepalive_)
        co_return;
    keepalive_ = draw_keepalive(limits_.keepalive);
    // Bytes that wait for the peer already show him that we live; one more would only wait too.
    if (writer_->idle()) {
        co_await writer_->send(protocol::record_type::pad);
    } else {
        keepalive_skipped_ = now;
    }
}

time_point tunnel::next_check(time_point now) const {
    // Not listening: look again later, the clock begins when listening does.
    const time_point dead = listening_.value_or(now) + limits_.dead_peer;
    if (finished_) return dead;
    time_point next = std::max(writer_->last_sent(), keepalive_skipped_) + keepalive_;
    next = std::min(next, dead);
    if (limits_.idle) next = std::min(next, last_stream_ + *limits_.idle);
    if (limits_.age) next = std::min(next, began_ + *limits_.age);
    return next;
}

}  // namespace culvert::relay
