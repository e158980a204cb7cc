// A key holder who has not named a service yet.
#include <array>
#include <boost/asio/error.hpp>
#include <cstring>
#include <limits>
#include <utility>

#include "proxy/relay/keepalive.hpp"
#include "proxy/relay/server_session.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;

// The records before OPEN are short: two of them fit.
constexpr std::size_t opening_memory = 2'048;

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

}  // namespace

// Takes PADs and then one OPEN; returns the service's name.
awaitable<std::string> server_session::await_open() {
    std::vector<std::uint8_t> memory(opening_memory);
    std::size_t size = far_->leftover.size();
    std::copy(far_->leftover.begin(), far_->leftover.end(), memory.begin());
    std::size_t fed = 0;
    for (;;) {
        std::array<protocol::opened_record, 1> record;
        const auto done = far_->opener.feed(bytes(memory).subspan(fed, size - fed), record);
        fed += done.consumed;
        if (done.fault != protocol::error::none) throw bad_record(done.fault, far_->opener);
        if (done.records == 1) {
            whole_by_ = time_point::max();
            const auto payload = record[0].payload;
            if (record[0].type == protocol::record_type::alert) {
                const auto code = protocol::alert_from(payload[0]);
                dropped_ = code == protocol::alert::shutdown;
                throw session_end(end_reason::alerted, text_of(code));
            }
            prove();
            if (record[0].type == protocol::record_type::open) {
                if (stop_) throw session_end(end_reason::not_opened);
                opened_ = true;
                connections().opened.add();
                leave_waiting_room();
                far_->leftover.assign(memory.begin() + static_cast<std::ptrdiff_t>(fed),
                                      memory.begin() + static_cast<std::ptrdiff_t>(size));
                co_return std::string(payload.begin(), payload.end());
            }
            enter_waiting_room();
            continue;
        }
        const std::size_t held = far_->opener.held();
        if (held > 0 && whole_by_ == time_point::max())
            whole_by_ = clock::now() + time_for_a_record(context_->settings.limits.dead_peer);
        std::memmove(memory.data(), memory.data() + fed - held, held);
        fed = size = held;
        co_await read_opening(memory, size);
    }
}

awaitable<void> server_session::read_opening(std::vector<std::uint8_t>& memory, std::size_t& size) {
    for (;;) {
        const auto got = far_->writer->to().try_read(bytes(memory).subspan(size));
        if (got.ec == asio::error::would_block) {
            co_await wait_for_client();
            continue;
        }
        if (got.ec == asio::error::eof)
            throw session_end(end_reason::tunnel_lost, "the client left before OPEN");
        if (got.ec) throw session_end(end_reason::tunnel_lost, got.ec.message());
        size += got.size;
        if (turn_.over()) co_await carrier::let_others_run(thread_.executor);
        co_return;
    }
}

// In state F the handshake's deadline resets the connection. In state W the rules of an open
// session hold: keepalive, dead peer.
awaitable<void> server_session::wait_for_client() {
    const auto& limits = context_->settings.limits;
    carrier::carrier& wire = far_->writer->to();
    const time_point dead = std::min(clock::now() + limits.dead_peer, whole_by_);
    time_point quiet_since = far_->writer->last_sent();
    for (;;) {
        // Before record 0 has verified the server sends no record: no ALERT then.
        if (stop_ && !proven_) throw session_end(end_reason::handshake_failed, "stopped");
        if (stop_) throw session_end(end_reason::not_opened);
        const time_point pad_due = quiet_since + draw_keepalive(limits.keepalive);
        const deadline limit(thread_.executor,
                             proven_ ? std::min(dead, pad_due) : time_point::max(),
                             [&wire] { wire.cancel(); });
        const error_code ec = co_await wire.wait_readable();
        if (!ec) co_return;
        if (stop_) continue;
        if (!proven_) throw session_end(end_reason::handshake_failed, "nothing after message 2");
        if (!limit.passed()) throw session_end(end_reason::tunnel_lost, ec.message());
        if (clock::now() >= dead) throw session_end(end_reason::dead_peer);
        if (far_->writer->idle()) co_await far_->writer->send(protocol::record_type::pad);
        quiet_since = clock::now();
    }
}

// Record 0 has verified: the client holds the keys.
void server_session::prove() {
    if (proven_) return;
    proven_ = true;
    connections().proven.add();
    context_->counters->handshakes(thread_.number).add(clock::now() - accepted_);
    handshake_deadline_.reset();
    of_client_ = slot(known_->account->sessions, known_->rights.connections.value_or(no_limit));
    if (!of_client_) throw session_end(end_reason::too_many, "those of this client");
    in_section_ = slot(context_->here->sessions, context_->settings.limits.connections);
    if (in_section_) return;
    of_client_ = {};  // not while this one takes leave
    throw session_end(end_reason::too_many);
}

// A PAD instead of OPEN: the client keeps the session for later.
void server_session::enter_waiting_room() {
    if (waiting_) return;
    if (draining_) throw session_end(end_reason::not_opened);
    waiting_ = slot(known_->account->waiting, context_->settings.waiting);
    if (!waiting_)
        throw session_end(end_reason::too_many, "too many sessions of this key wait for OPEN");
    connections().began_waiting.add();
}

void server_session::leave_waiting_room() {
    if (!std::exchange(waiting_, {})) return;
    connections().ended_waiting.add();
}

}  // namespace culvert::relay
