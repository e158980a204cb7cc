// Who has shown no key yet. Nothing is written to him.
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

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

std::string text_of_failure(const server_handshake& handshake) {
    const protocol::error failure = handshake.failure();
    std::string why = make_error_code(failure).message();
    if (failure == protocol::error::clock_skew)
        why += " (the client's is " + std::to_string(handshake.clock_difference()) + " s ahead)";
    return why;
}

// Gives the reader what has come of a header, and leaves in the socket what comes behind it.
carrier::io_result take_header(carrier::stream_socket& socket, proxy_header_reader& header) {
    std::array<std::uint8_t, 512> memory;
    const carrier::io_result seen = carrier::try_peek(socket, memory);
    if (seen.ec == asio::error::would_block) return {};
    if (seen.ec) return seen;
    const std::size_t taken = header.feed(bytes_view(memory).first(seen.size));
    return carrier::try_read(socket, bytes(memory).first(taken));
}

}  // namespace

awaitable<void> server_session::admit() {
    const auto by = accepted_ + context_->settings.limits.handshake + draw_up_to(deadline_spread);
    handshake_deadline_.emplace(thread_.executor, by, [this] { close_stranger(); });
    is_proxy_ = comes_from_proxy();
    unproven_registry::ticket ticket = register_unproven(carrier::peer_address(socket_));
    co_await hear_proxy(ticket);
    if (is_proxy_) co_await await_first_byte();

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

    known_ = &context_->clients.of(handshake);
    client_ = known_->name;
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

unproven_registry::ticket server_session::register_unproven(const config::address_bytes& address) {
    const bool capped = !context_->is_proxy(address);
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

// In every state before message 2 the same: FIN. After it, and in the middle of what a fallback
// says, a reset.
void server_session::close_stranger() noexcept {
    if (stay_)
        stay_->stop();
    else if (far_)
        far_->writer->to().reset();
    else if (carrier_)
        carrier_->close();
    else
        carrier::close_quietly(socket_);
}

// A connection that was reset already has no address any more. Where there are proxies it counts as
// one of theirs: some look so whether we are there.
bool server_session::comes_from_proxy() {
    if (context_->settings.proxies.empty()) return false;
    const auto peer = carrier::peer_place(socket_);
    return peer ? context_->is_proxy(peer->address) : carrier::has_failed(socket_);
}

// Whom a proxy that we believe says the connection comes from: from then on it is his.
awaitable<void> server_session::hear_proxy(unproven_registry::ticket& counted) {
    const auto mode = context_->settings.proxy_protocol;
    if (mode == config::proxy_protocol::off) co_return;
    if (!is_proxy_) {
        if (mode == config::proxy_protocol::on) co_return;
        const std::string why = "it does not come from a proxy-address";
        co_await stay_silent("no_proxy", why);
    }
    proxy_header_reader header;
    co_await read_proxy_header(header);
    if (header.current() == proxy_header_reader::state::malformed) {
        const std::string why = std::string("no valid PROXY header: ") + header.fault();
        co_await stay_silent("proxy_header", why);
    }
    if (!header.about()) co_return;
    proxied_ = std::make_unique<proxied>(*header.about());
    peer_ = carrier::to_text(proxied_->from);
    is_proxy_ = context_->is_proxy(proxied_->from.address);  // a check of his, then
    counted = register_unproven(proxied_->from.address);
}

// Not a byte more than the header: the others are for those who come after.
awaitable<void> server_session::read_proxy_header(proxy_header_reader& header) {
    std::size_t received = 0;
    while (header.current() == proxy_header_reader::state::more) {
        error_code ec = co_await carrier::wait_readable(socket_);
        if (!ec) {
            const carrier::io_result got = take_header(socket_, header);
            received += got.size;
            ec = got.ec;
        }
        if (!ec) continue;
        report_gone(received);
        close_stranger();
        throw session_end(end_reason::handshake_failed, ec.message());
    }
}

// For one who may leave without it.
awaitable<void> server_session::await_first_byte() {
    std::array<std::uint8_t, 1> memory;
    error_code ec = co_await carrier::wait_readable(socket_);
    if (!ec) ec = carrier::try_peek(socket_, memory).ec;
    if (!ec || ec == asio::error::would_block) co_return;
    report_gone(0);
    close_stranger();
    throw session_end(end_reason::handshake_failed, ec.message());
}

awaitable<void> server_session::upgrade() {
    auto result = co_await await_upgrade();
    if (result.ok()) {
        falls_back_ = false;
        carrier_ = carrier::over_websocket(std::move(socket_), carrier::websocket::role::server,
                                           std::move(result.leftover));
        co_return;
    }
    unproven_ = "no_upgrade";
    if (!falls_back_) report_stranger("no WebSocket upgrade to " + context_->settings.path);
    // After a 404 the client closes; a close with its bytes unread would destroy the answer.
    if (socket_.is_open() && result.answered) co_await carrier::discard(socket_);
    close_stranger();
    throw session_end(end_reason::handshake_failed);
}

// Returns what came behind message 1. No buffer is held while a stranger makes us wait.
awaitable<std::string> server_session::shake_hands(server_handshake& handshake) {
    flight first;
    while (handshake.current() != server_handshake::state::replied) {
        error_code ec = co_await wait_for_flight(handshake, first);
        if (!ec) ec = read_first_message(handshake, first);
        if (ec) co_await give_up(handshake, first, ec);
        if (handshake.current() == server_handshake::state::silent)
            co_await refuse(handshake, first);
    }
    if (handshake.evicted())
        log(context_->strangers, log_level::warning,
            "server.{}: the replay cache is full, its oldest entry was dropped",
            context_->settings.name);
    co_return std::move(first.leftover);
}

// Takes what has come, once.
error_code server_session::read_first_message(server_handshake& handshake, flight& first) {
    std::array<std::uint8_t, flight_memory> memory;
    const carrier::io_result got = carrier_->try_read(memory);
    if (got.ec == asio::error::would_block) return {};
    if (got.ec) return got.ec;
    if (first.size == 0) first.since = clock::now();
    first.size += got.size;
    const bytes_view came = bytes_view(memory).first(got.size);
    if (falls_back_) first.whole.append(came.begin(), came.end());
    const bytes_view rest = came.subspan(handshake.feed(came, unix_now()));
    first.leftover.assign(rest.begin(), rest.end());
    return {};
}

// Throws: no whole message 1 will come.
awaitable<void> server_session::give_up(const server_handshake& handshake, flight& first,
                                        error_code why) {
    const std::string came = std::to_string(first.size) + " bytes without a whole first message";
    const bool ended = why == asio::error::eof;
    const bool late = why == asio::error::timed_out;
    const bool in_a = handshake.current() == server_handshake::state::await_a;
    if (falls_back_ && in_a && (ended || late)) {
        report_stranger(came + ": for the fallback", log_level::info);
        co_await fall_back(std::move(first.whole), ended);
    } else {
        report_gone(first.size);
    }
    if (late) co_await throw_all_away();
    close_stranger();
    throw session_end(end_reason::handshake_failed, why.message());
}

// Throws: message 1 was wrong. State S: reads and throws away until the peer leaves or the deadline
// closes the connection.
awaitable<void> server_session::refuse(const server_handshake& handshake, flight& first) {
    const protocol::error failure = handshake.failure();
    unproven_ = name_of(failure);
    const std::string why = text_of_failure(handshake);
    if (falls_back_) {
        // Who has no key at all is a visitor, and nothing to worry about.
        const bool visitor = failure == protocol::error::bad_box;
        report_stranger(why + ": for the fallback", visitor ? log_level::info : log_level::warning);
        co_await fall_back(std::move(first.whole), false);
    } else {
        report_stranger(why);
    }
    co_await throw_all_away();
    close_stranger();
    throw session_end(end_reason::handshake_failed, why);
}

// Throws, in state S.
awaitable<void> server_session::stay_silent(const char* counted, const std::string& why) {
    unproven_ = counted;
    report_stranger(why);
    if (!carrier_) carrier_ = carrier::over_tcp(std::move(socket_));
    co_await throw_all_away();
    close_stranger();
    throw session_end(end_reason::handshake_failed, why);
}

awaitable<void> server_session::throw_all_away() {
    error_code ec;
    while (!ec) {
        ec = co_await carrier_->wait_readable();
        if (!ec) ec = throw_away();
    }
}

error_code server_session::throw_away() {
    std::array<std::uint8_t, 16'384> waste;
    const carrier::io_result got = carrier_->try_read(waste);
    return got.ec == asio::error::would_block ? error_code{} : got.ec;
}

// A proxy that leaves without a word has looked whether we are there.
void server_session::report_gone(std::size_t received) {
    const bool is_check = received == 0 && is_proxy_;
    if (is_check) unproven_ = "check";
    if (stop_ || is_check) return;
    report_stranger("left after " + std::to_string(received) +
                    " bytes without a whole first message");
}

void server_session::report_stranger(const std::string& why, log_level level) {
    log(context_->strangers, level, "server.{}: {}: no session: {}", context_->settings.name, peer_,
        why);
}

}  // namespace culvert::relay
