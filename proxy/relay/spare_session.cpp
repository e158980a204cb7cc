#include "proxy/relay/spare_session.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>

#include "proxy/relay/deadline.hpp"
#include "proxy/relay/goodbye.hpp"
#include "proxy/relay/keepalive.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;

// Reads at once before the session is used; who sends more than this is no server of ours.
constexpr int last_reads = 8;

}  // namespace

spare_session::spare_session(established far, const config::session_limits& limits,
                             buffer_pool& buffers, time_point retire_at, clock::duration silence)
    : far_(std::move(far)),
      limits_(limits),
      buffers_(buffers),
      retire_at_(retire_at),
      silence_(silence),
      pad_due_(made_ + draw_keepalive(limits.keepalive)) {}

awaitable<void> spare_session::keep() {
    if (!far_.leftover.empty()) {
        memory_ = buffers_.take();
        std::copy(far_.leftover.begin(), far_.leftover.end(), memory_->memory.begin());
        size_ = far_.leftover.size();
        far_.leftover = std::string();
        open_received();
    }
    while (!taken_) {
        const time_point now = clock::now();
        if (stop_) throw session_end(*stop_);
        if (now >= retire_at_) throw session_end(end_reason::shutdown, "replaced by a new one");
        if (now >= heard_ + silence_)
            throw session_end(end_reason::shutdown, "nothing heard of the server");
        if (now >= pad_due_) {
            pad_due_ = now + draw_keepalive(limits_.keepalive);
            if (far_.writer->idle()) co_await far_.writer->send(protocol::record_type::pad);
        }
        const time_point next = std::min({retire_at_, heard_ + silence_, pad_due_});
        const bool readable = co_await wait_until(next);
        if (readable && !taken_) read();
    }
}

// False when the moment came first, or the spare was taken or stopped.
awaitable<bool> spare_session::wait_until(time_point when) {
    if (stop_) co_return false;
    carrier::carrier& wire = far_.writer->to();
    // Once the session is taken its waits are another's.
    const deadline limit(far_.writer->get_executor(), when, [this, &wire] {
        if (!taken_) wire.cancel();
    });
    waiting_ = true;
    const error_code ec = co_await wire.wait_readable();
    waiting_ = false;
    if (taken_ || stop_) co_return false;
    if (ec && !limit.passed()) throw session_end(end_reason::tunnel_lost, ec.message());
    co_return !ec;
}

// Takes what has come, once. False when nothing was there.
bool spare_session::read() {
    if (!memory_) memory_ = buffers_.take();
    make_room();
    const auto got = far_.writer->to().try_read(bytes(memory_->memory).subspan(size_));
    const bool nothing = got.ec == asio::error::would_block;
    if (got.ec == asio::error::eof)
        throw session_end(end_reason::tunnel_lost, "the server closed it");
    if (got.ec && !nothing) throw session_end(end_reason::tunnel_lost, got.ec.message());
    size_ += got.size;
    open_received();
    return !nothing;
}

void spare_session::make_room() {
    const std::size_t held = far_.opener.held();
    if (held > 0 && memory_->memory.size() - size_ >= protocol::max_payload) return;
    std::memmove(memory_->memory.data(), memory_->memory.data() + size_ - held, held);
    fed_ = size_ = held;
}

// Before OPEN a server says nothing but PAD and ALERT: the opener sees to that.
void spare_session::open_received() {
    while (fed_ < size_) {
        const bytes piece = bytes(memory_->memory).subspan(fed_, size_ - fed_);
        const auto done = far_.opener.feed(piece, memory_->records);
        fed_ += done.consumed;
        for (const auto& record : std::span(memory_->records).first(done.records)) {
            if (record.type == protocol::record_type::alert)
                throw session_end(end_reason::alerted,
                                  text_of(protocol::alert_from(record.payload[0])));
            heard_ = clock::now();
        }
        if (done.fault != protocol::error::none) throw bad_record(done.fault, far_.opener);
    }
    if (far_.opener.held() == 0) memory_.reset();
}

bool spare_session::ready() const noexcept {
    return waiting_ && !taken_ && !stop_ && far_.opener.held() == 0 &&
           clock::now() < heard_ + silence_;
}

std::optional<established> spare_session::take() {
    taken_ = true;
    far_.writer->to().cancel();  // keep() waits there
    bool more = true;
    try {
        for (int i = 0; more && i < last_reads; ++i) more = read();
    } catch (const session_end&) {
        more = true;
    }
    if (more || far_.opener.held() > 0) {
        far_.writer->to().reset();
        return std::nullopt;
    }
    return std::move(far_);
}

awaitable<void> spare_session::leave(const session_end& why) {
    co_await say_why(*far_.writer, why, buffers_);
}

void spare_session::stop(end_reason why) {
    stop_ = why;
    if (waiting_ && !taken_) far_.writer->to().cancel();
}

}  // namespace culvert::relay
