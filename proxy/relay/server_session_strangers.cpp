// Who has shown no key yet. Nothing is written to him.
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "proxy/carrier/http_upgrade.hpp"
#include "proxy/carrier/websocket.hpp"
#include "proxy/relay/keepalive.hpp"
#include "proxy/relay/server_session.hpp"
#include "proxy/relay/wall_clock.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using observe::log;
using observe::log_level;
using protocol::server_handshake;

// Added to the handshake's deadline, drawn for each connection: PROTOCOL.md section 5.
constexpr std::chrono::seconds deadline_spread{10};

// Any message 1 fits.
constexpr std::size_t flight_memory = 2'048;

// For the counters.
const char* name_of(protocol::error failure) noexcept {
    switch (failure) {
        case protocol::error::bad_box:
            return "wrong_key";
        case protocol::error::bad_field:
            return "bad_field";
        case protocol::error::clock_skew:
            return "clock_skew";
        case protocol::error::replay:
            return "replay";
        case protocol::error::unknown_client:
            return "unknown_client";
        case protocol::error::weak_key:
            return "weak_key";
        default:  // only records fail with the others
            return "incomplete";
    }
}

}  // namespace

awaitable<void> server_session::admit() {
    const auto by = accepted_ + context_->settings.limits.handshake + draw_up_to(deadline_spread);
    handshake_deadline_.emplace(thread_.executor, by, [this] { close_stranger(); });
    unproven_registry::ticket ticket = register_unproven();

    if (context_->settings.carrier == config::carrier::websocket)
        co_await upgrade();
    else
        carrier_ = carrier::over_tcp(std::move(socket_));

    std::uint16_t pad = 0;
    if (context_->settings.carrier == config::carrier::tcp)
        pad = static_cast<std::uint16_t>(
            draw_up_to(std::chrono::milliseconds{protocol::max_pad}).count());
    server_handshake handshake(context_->keys, context_->replays, pad, protocol::system_random(),
                               thread_.ephemeral_keys());
    std::string leftover = co_await shake_hands(handshake);
    ticket.leave();
    unproven_ = "unproven";

    if (handshake.client()) client_ = context_->name_of(*handshake.client());
    key_ = handshake.client() ? "client " + client_ : "psk";
    const auto reply = handshake.message2();
    std::vector<std::uint8_t> flight(reply.begin(), reply.end());
    const auto secrets = std::move(handshake).split();
    const error_code ec = co_await carrier_->write(flight);
    if (ec) {
        carrier_->reset();
        throw session_end(end_reason::tunnel_lost, ec.message());
    }
    auto keys = secrets.first_epochs();
    protocol::sealer sealer(std::move(keys.s2c), protocol::role::server, clock::now());
    auto writer = std::make_unique<record_writer>(std::move(carrier_), std::move(sealer));
    established session{std::move(writer),
                        protocol::opener(std::move(keys.c2s), protocol::role::server),
                        std::move(leftover)};
    far_ = std::make_unique<established>(std::move(session));
}

unproven_registry::ticket server_session::register_unproven() {
    const auto address = carrier::peer_address(socket_);
    const auto& proxies = context_->settings.proxies;
    const bool capped = std::none_of(proxies.begin(), proxies.end(),
                                     [&](const auto& range) { return range.contains(address); });
    auto evict = [weak = weak_from_this(), executor = thread_.executor] {
        asio::post(executor, [weak] {
            const auto self = weak.lock();
            if (!self || self->far_) return;
            self->unproven_ = "evicted";
            self->close_stranger();
        });
    };
    return context_->here->unproven->enter(group_of(address), capped, clock::now(),
                                           std::move(evict));
}

// In every state before message 2 the same: FIN. After it, a reset.
void server_session::close_stranger() noexcept {
    if (far_)
        far_->writer->to().reset();
    else if (carrier_)
        carrier_->close();
    else
        carrier::close_quietly(socket_);
}

awaitable<void> server_session::upgrade() {
    auto result = co_await carrier::websocket::accept_upgrade(socket_, context_->settings.path);
    if (result.ok()) {
        carrier_ = carrier::over_websocket(std::move(socket_), carrier::websocket::role::server,
                                           std::move(result.leftover));
        co_return;
    }
    unproven_ = "no_upgrade";
    report_stranger("no WebSocket upgrade to " + context_->settings.path);
    // After a 404 the client closes; a close with its bytes unread would destroy the answer.
    if (socket_.is_open() && result.answered) co_await carrier::discard(socket_);
    close_stranger();
    throw session_end(end_reason::handshake_failed);
}

// Returns what came behind message 1. No buffer is held while a stranger makes us wait.
awaitable<std::string> server_session::shake_hands(server_handshake& handshake) {
    std::size_t received = 0;
    std::string leftover;
    while (handshake.current() != server_handshake::state::replied) {
        error_code ec = co_await carrier_->wait_readable();
        if (!ec) ec = read_first_message(handshake, received, leftover);
        if (ec) {
            if (!stop_)
                report_stranger("left after " + std::to_string(received) +
                                " bytes without a whole first message");
            close_stranger();
            throw session_end(end_reason::handshake_failed, ec.message());
        }
        if (handshake.current() == server_handshake::state::silent) co_await stay_silent(handshake);
    }
    if (handshake.evicted())
        log(context_->strangers, log_level::warning,
            "server.{}: the replay cache is full, its oldest entry was dropped",
            context_->settings.name);
    co_return leftover;
}

// Takes what has come, once.
error_code server_session::read_first_message(server_handshake& handshake, std::size_t& received,
                                              std::string& leftover) {
    std::array<std::uint8_t, flight_memory> memory;
    const carrier::io_result got = carrier_->try_read(memory);
    if (got.ec == asio::error::would_block) return {};
    if (got.ec) return got.ec;
    received += got.size;
    const bytes_view came = bytes_view(memory).first(got.size);
    const bytes_view rest = came.subspan(handshake.feed(came, unix_now()));
    leftover.assign(rest.begin(), rest.end());
    return {};
}

// State S: reads and throws away until the peer leaves or the deadline closes the connection.
awaitable<void> server_session::stay_silent(const server_handshake& handshake) {
    const protocol::error failure = handshake.failure();
    unproven_ = name_of(failure);
    std::string why = make_error_code(failure).message();
    if (failure == protocol::error::clock_skew)
        why += " (the client's is " + std::to_string(handshake.clock_difference()) + " s ahead)";
    report_stranger(why);
    error_code ec;
    while (!ec) {
        ec = co_await carrier_->wait_readable();
        if (!ec) ec = throw_away();
    }
    close_stranger();
    throw session_end(end_reason::handshake_failed, why);
}

error_code server_session::throw_away() {
    std::array<std::uint8_t, 16'384> waste;
    const carrier::io_result got = carrier_->try_read(waste);
    return got.ec == asio::error::would_block ? error_code{} : got.ec;
}

void server_session::report_stranger(const std::string& why) {
    log(context_->strangers, log_level::warning, "server.{}: {}: no session: {}",
        context_->settings.name, peer_, why);
}

}  // namespace culvert::relay
