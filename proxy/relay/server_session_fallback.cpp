// Strangers whose answer is the fallback's: PROTOCOL.md section 6.
#include <boost/asio/error.hpp>

#include "proxy/relay/connect.hpp"
#include "proxy/relay/server_session.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::websocket::upgrade_result;
using observe::log;
using observe::log_level;
using protocol::server_handshake;

// From the accept on, for the first byte of message 1, or a whole request: a packet that was lost
// is sent again by then.
constexpr std::chrono::seconds patience{3};
// From the first byte on, for the rest of salt and box A, which a client sends in one packet. Short
// requests of strangers wait as long.
constexpr std::chrono::milliseconds short_patience{100};

// Whether an upgrade did not come about because of what was asked, or because nothing more came.
bool is_foreign(const upgrade_result& asked, bool late) {
    return late || asked.ec.category() != boost::system::system_category();
}

}  // namespace

awaitable<upgrade_result> server_session::await_upgrade() {
    const std::string& path = context_->settings.path;
    if (!falls_back_) co_return co_await carrier::websocket::accept_upgrade(socket_, path);
    std::optional<deadline> limit;
    limit.emplace(thread_.executor, accepted_ + patience, [this] { carrier::cancel(socket_); });
    upgrade_result asked = co_await carrier::websocket::await_upgrade(socket_, path);
    const bool late = limit->passed();
    limit.reset();
    if (asked.ok() || stop_ || !is_foreign(asked, late)) co_return asked;
    const bool ended = asked.ec == asio::error::eof;
    unproven_ = "no_upgrade";
    report_stranger("no WebSocket upgrade to " + path + ": for the fallback", log_level::info);
    co_await fall_back(asked.received, ended);
    if (asked.http && socket_.is_open()) co_await carrier::websocket::decline(socket_, asked);
    co_return asked;
}

// timed_out: what has come goes to the fallback. Once box A has opened nobody is hurried: who got
// so far has, or had, a client's first message.
awaitable<error_code> server_session::wait_for_flight(const server_handshake& handshake,
                                                      const flight& first) {
    if (!falls_back_ || handshake.current() != server_handshake::state::await_a)
        co_return co_await carrier_->wait_readable();
    const time_point by = first.size == 0 ? accepted_ + patience : first.since + short_patience;
    const deadline limit(thread_.executor, by, [this] { carrier_->cancel(); });
    const error_code ec = co_await carrier_->wait_readable();
    if (ec && limit.passed()) co_return asio::error::timed_out;
    co_return ec;
}

// Throws when the stranger has been there; returns where the fallback can't be reached.
awaitable<void> server_session::fall_back(std::string received, bool ended) {
    auto fallback = co_await reach_fallback();
    if (fallback) co_await visit(std::move(fallback), std::move(received), ended);
}

awaitable<std::unique_ptr<carrier::carrier>> server_session::reach_fallback() {
    const auto& settings = context_->settings;
    const auto by = clock::now() + settings.limits.connect;
    cancellation cancel([this] { return !stranger().is_open() || carrier::has_failed(stranger()); },
                        connecting_);
    connected to = co_await connect(thread_.executor, settings.fallback, by, closing::reset,
                                    *thread_.names, &cancel);
    if (stop_ || cancel.requested()) {
        close_stranger();
        throw session_end(end_reason::handshake_failed, "left before the fallback answered");
    }
    if (!to.ec) co_return carrier::over_tcp(std::move(to.socket));
    log(context_->fallbacks, log_level::warning, "server.{}: the fallback {} can't be reached: {}",
        settings.name, settings.fallback.text(), to.ec.message());
    co_return nullptr;
}

// The caps of those who have shown no key hold on; the deadline of the handshake does not.
awaitable<void> server_session::visit(std::unique_ptr<carrier::carrier> fallback,
                                      std::string received, bool ended) {
    handshake_deadline_.reset();
    auto visitor = carrier_ ? std::move(carrier_) : carrier::over_tcp(std::move(socket_));
    carrier::arm_reset(visitor->socket(), true);
    const auto& limits = context_->settings.limits;
    const auto idle = std::min(limits.dead_peer, limits.idle.value_or(limits.dead_peer));
    stay_ = std::make_unique<plain_relay>(std::move(visitor), std::move(fallback), idle);
    co_await stay_->run(std::move(received), ended);
    throw session_end(end_reason::handshake_failed,
                      "was at the fallback: " + std::to_string(stay_->up()) + " B to it, " +
                          std::to_string(stay_->down()) + " B from it");
}

}  // namespace culvert::relay
