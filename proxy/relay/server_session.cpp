#include "proxy/relay/server_session.hpp"

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

#include "proxy/carrier/http_upgrade.hpp"
#include "proxy/carrier/websocket.hpp"
#include "proxy/relay/connect.hpp"
#include "proxy/relay/deadline.hpp"
#include "proxy/relay/established.hpp"
#include "proxy/relay/goodbye.hpp"
#include "proxy/relay/keepalive.hpp"
#include "proxy/relay/wall_clock.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::stream_socket;
using observe::log;
using observe::log_level;
using protocol::server_handshake;

// Added to the handshake's deadline, drawn for each connection: PROTOCOL.md section 5.
constexpr std::chrono::seconds deadline_spread{10};

// The records before OPEN are short: two of them fit, or any message 1.
constexpr std::size_t opening_memory = 2'048;

class server_session final : public session, public std::enable_shared_from_this<server_session> {
  public:
    server_session(std::shared_ptr<const server_context> context, stream_socket socket,
                   thread_context thread)
        : context_(std::move(context)),
          thread_(thread),
          socket_(std::move(socket)),
          peer_(carrier::peer_name(socket_)) {}
    ~server_session() override {
        leave_waiting_room();
        if (proven_) --context_->sessions;
    }

    awaitable<void> run() override;
    void stop(end_reason why) override;
    void drain() override {
        if (!opened_) stop(end_reason::not_opened);
    }
    [[nodiscard]] std::string describe() const override;
    [[nodiscard]] traffic moved() const override { return tunnel_ ? tunnel_->moved() : traffic{}; }
    [[nodiscard]] bool proven() const override { return proven_; }
    [[nodiscard]] bool unused() const override {
        return !opened_ && (dropped_ || stop_ == end_reason::not_opened);
    }

  private:
    // States A, B, P and S.
    awaitable<void> admit();
    awaitable<void> upgrade();
    awaitable<std::string> shake_hands(server_handshake& handshake);
    error_code read_first_message(server_handshake& handshake, std::size_t& received,
                                  std::string& leftover);
    awaitable<void> stay_silent(const server_handshake& handshake);
    error_code throw_away();
    void report_stranger(const std::string& why);
    unproven_registry::ticket register_unproven();
    void close_stranger() noexcept;

    // States F and W.
    awaitable<std::string> await_open();
    awaitable<void> read_opening(std::vector<std::uint8_t>& memory, std::size_t& size);
    awaitable<void> wait_for_client();
    void prove();
    void enter_waiting_room();
    void leave_waiting_room();

    // State O.
    awaitable<void> open_tunnel();
    awaitable<stream_socket> reach_backend(const std::string& service);

    const std::shared_ptr<const server_context> context_;
    const thread_context thread_;
    stream_socket socket_;  // until there is a carrier
    const std::string peer_;
    const time_point accepted_ = clock::now();
    std::unique_ptr<carrier::carrier> carrier_;  // until there is a writer
    std::optional<deadline> handshake_deadline_;
    std::unique_ptr<established> far_;    // until there is a tunnel
    cancellation* connecting_ = nullptr;  // while the backend is being connected
    std::optional<tunnel> tunnel_;
    std::optional<end_reason> stop_;
    std::string client_;                       // name, in static mode
    std::string key_;                          // what the waiting room counts by
    std::string service_;                      // asked for
    time_point whole_by_ = time_point::max();  // the record that is coming, before OPEN
    bool proven_ = false;                      // record 0 has verified
    bool waiting_ = false;
    bool opened_ = false;
    bool dropped_ = false;  // by a client that has no use for it any more
    carrier::turn turn_;    // of a client that sends PADs
};

awaitable<void> server_session::run() {
    co_await admit();
    co_await open_tunnel();
    co_await tunnel_->run();
}

// A coroutine of its own: what it needs is gone while the tunnel runs.
awaitable<void> server_session::open_tunnel() {
    std::optional<session_end> failed;
    stream_socket backend(thread_.executor);
    try {
        service_ = co_await await_open();
        backend = co_await reach_backend(service_);
    } catch (const session_end& e) {
        failed = e;
    }
    handshake_deadline_.reset();
    if (failed) {
        if (!proven_ && !stop_ && !dropped_) report_stranger(failed->text());
        co_await say_why(*far_->writer, *failed, thread_.buffers);
        throw *failed;
    }
    tunnel_.emplace(std::move(backend), std::move(*far_), context_->settings.limits,
                    thread_.buffers);
    far_.reset();
    if (stop_) tunnel_->stop(*stop_);
}

void server_session::stop(end_reason why) {
    stop_ = why;
    if (tunnel_)
        tunnel_->stop(why);
    else if (connecting_ != nullptr)
        connecting_->request();
    else if (far_)
        far_->writer->to().cancel();
    else
        close_stranger();
}

std::string server_session::describe() const {
    std::string text = peer_;
    if (!client_.empty()) text += " client " + client_;
    if (opened_) text += " service " + (service_.empty() ? "(default)" : service_);
    return text;
}

// ---- strangers: nothing is written to them ----

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
            if (self && !self->far_) self->close_stranger();
        });
    };
    return context_->unproven->enter(group_of(address), capped, clock::now(), std::move(evict));
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
    std::array<std::uint8_t, opening_memory> memory;
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

// ---- a key holder who has not named a service yet ----

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
    handshake_deadline_.reset();
    if (context_->sessions++ >= context_->settings.limits.connections)
        throw session_end(end_reason::too_many);
}

// A PAD instead of OPEN: the client keeps the session for later.
void server_session::enter_waiting_room() {
    if (waiting_) return;
    if (!context_->waiting.enter(key_))
        throw session_end(end_reason::too_many, "too many sessions of this key wait for OPEN");
    waiting_ = true;
}

void server_session::leave_waiting_room() {
    if (waiting_) context_->waiting.leave(key_);
    waiting_ = false;
}

// ---- the backend ----

awaitable<stream_socket> server_session::reach_backend(const std::string& service) {
    const config::endpoint* target = context_->target_of(service);
    if (target == nullptr) throw session_end(end_reason::refused, "there is no such service");
    const auto by = clock::now() + context_->settings.limits.connect;
    // Nothing is read meanwhile. An end of the client's stream comes in a record; if the connection
    // itself ends, he has left.
    carrier::stream_socket& client = far_->writer->to().socket();
    cancellation cancel([&client] { return carrier::has_ended(client); }, connecting_);
    connected to =
        co_await connect(thread_.executor, *target, by, closing::reset, *thread_.names, &cancel);
    if (stop_) throw session_end(end_reason::shutdown);  // not another reason: OPEN was taken
    if (to.ec == asio::error::operation_aborted)
        throw session_end(end_reason::tunnel_lost, "the client left before the service answered");
    if (to.ec == asio::error::timed_out)
        throw session_end(end_reason::backend_timeout, target->text());
    if (to.ec)
        throw session_end(end_reason::backend_unreachable, target->text() + ": " + to.ec.message());
    co_return std::move(to.socket);
}

}  // namespace

std::shared_ptr<session> make_server_session(std::shared_ptr<const server_context> context,
                                             carrier::stream_socket socket, thread_context thread) {
    return std::make_shared<server_session>(std::move(context), std::move(socket), thread);
}

}  // namespace culvert::relay
