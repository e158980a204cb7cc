#include "proxy/relay/dial.hpp"

#include <array>
#include <boost/asio/error.hpp>

#include "crypto/random.hpp"
#include "proxy/carrier/http_upgrade.hpp"
#include "proxy/carrier/websocket.hpp"
#include "proxy/relay/connect.hpp"
#include "proxy/relay/deadline.hpp"
#include "proxy/relay/wall_clock.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::stream_socket;

// From sending message 1 to a whole message 2: a constant of the protocol.
constexpr std::chrono::seconds answer_time{15};

class dialer {
  public:
    dialer(const executor& ex, const config::client_settings& settings,
           const protocol::client_keys& keys, const dial_means& with)
        : ex_(ex),
          settings_(settings),
          to_(with.to != nullptr ? *with.to : settings.connect.front()),
          keys_(keys),
          with_(with) {}

    awaitable<established> run() {
        stream_socket socket = co_await reach();
        carrier_ = co_await carry(std::move(socket));
        co_return co_await shake_hands();
    }

  private:
    awaitable<stream_socket> reach();
    awaitable<std::unique_ptr<carrier::carrier>> carry(stream_socket socket);
    awaitable<std::unique_ptr<carrier::carrier>> upgrade(stream_socket socket);
    awaitable<established> shake_hands();
    awaitable<std::string> read_answer(protocol::client_handshake& handshake);
    void tell(dial_stage stage, const std::string& detail = {}) const {
        if (with_.passed != nullptr) (*with_.passed)(stage, detail);
    }

    const executor ex_;
    const config::client_settings& settings_;
    const config::uplink& to_;
    const protocol::client_keys& keys_;
    const dial_means with_;
    std::unique_ptr<carrier::carrier> carrier_;
};

awaitable<stream_socket> dialer::reach() {
    const auto by = clock::now() + with_.connect_time.value_or(settings_.limits.connect);
    connected to = co_await connect(ex_, to_.place, by, closing::quiet, *with_.names, with_.cancel);
    if (to.resolved) tell(dial_stage::resolve, to_.place.text());
    if (to.ec)
        throw session_end(
            end_reason::connect_failed,
            to_.place.text() + ": " + (to.resolved ? "" : "name lookup: ") + to.ec.message());
    tell(dial_stage::connect, carrier::peer_name(to.socket));
    co_return std::move(to.socket);
}

awaitable<std::unique_ptr<carrier::carrier>> dialer::carry(stream_socket socket) {
    if (to_.carrier == config::carrier::websocket) co_return co_await upgrade(std::move(socket));
    tell(dial_stage::carrier, "tcp");
    co_return carrier::over_tcp(std::move(socket));
}

awaitable<std::unique_ptr<carrier::carrier>> dialer::upgrade(stream_socket socket) {
    const deadline limit(
        ex_, clock::now() + settings_.limits.handshake, [&socket] { carrier::cancel(socket); },
        with_.cancel);
    auto result = co_await carrier::websocket::request_upgrade(socket, to_.place.text(), to_.path);
    if (!result.ok()) {
        const std::string why = limit.passed()       ? "no answer in time"
                                : result.status != 0 ? "HTTP " + std::to_string(result.status)
                                                     : result.ec.message();
        throw session_end(end_reason::connect_failed,
                          to_.place.text() + ": no WebSocket at this path: " + why);
    }
    tell(dial_stage::carrier, "WebSocket " + to_.path);
    co_return carrier::over_websocket(std::move(socket), carrier::websocket::role::client,
                                      std::move(result.leftover));
}

awaitable<established> dialer::shake_hands() {
    // On TCP the length of the first flight is random too; a WebSocket message needs no cover.
    std::uint16_t pad = 0;
    if (to_.carrier == config::carrier::tcp) {
        std::array<std::uint8_t, 2> random;
        crypto::fill_random(random);
        pad = crypto::load16_le(random.data()) & protocol::max_pad;
    }
    const auto handshake = std::make_unique<protocol::client_handshake>(
        keys_, unix_now(), pad, protocol::system_random(), with_.stock);
    auto leftover = co_await read_answer(*handshake);
    tell(dial_stage::handshake);
    auto keys = std::move(*handshake).split().first_epochs();
    protocol::sealer sealer(std::move(keys.c2s), protocol::role::client, clock::now());
    established session{std::make_unique<record_writer>(std::move(carrier_), std::move(sealer)),
                        protocol::opener(std::move(keys.s2c), protocol::role::client),
                        std::move(leftover)};
    co_return session;
}

// Sends message 1 and takes message 2; returns what came behind it.
awaitable<std::string> dialer::read_answer(protocol::client_handshake& handshake) {
    using state = protocol::client_handshake::state;
    carrier::carrier& wire = *carrier_;
    const deadline limit(
        ex_, clock::now() + answer_time, [&wire] { wire.reset(); }, with_.cancel);

    if (handshake.current() != state::failed) {
        // The carrier may change what it sends.
        std::vector<std::uint8_t> flight(handshake.message1().begin(), handshake.message1().end());
        const error_code ec = co_await wire.write(flight);
        if (ec) throw session_end(end_reason::no_answer, ec.message());
    }
    std::vector<std::uint8_t> memory(2'048);
    while (handshake.current() != state::failed) {
        const auto got = co_await wire.read_some(memory);
        if (got.ec) break;
        const bytes_view came = bytes_view(memory).first(got.size);
        const std::size_t used = handshake.feed(came);
        if (handshake.current() == state::open) {
            const auto rest = came.subspan(used);
            co_return std::string(rest.begin(), rest.end());
        }
    }
    wire.close();
    const bool wrong = handshake.current() == state::failed;
    throw session_end(wrong ? end_reason::handshake_failed : end_reason::no_answer,
                      no_valid_answer());
}

}  // namespace

const char* text_of(dial_stage stage) noexcept {
    switch (stage) {
        case dial_stage::resolve:
            return "name";
        case dial_stage::connect:
            return "connect";
        case dial_stage::carrier:
            return "carrier";
        case dial_stage::handshake:
            return "handshake";
        case dial_stage::open:
            return "open";
    }
    return "unknown stage";
}

const char* no_valid_answer() noexcept {
    return "no valid answer: wrong key, wrong address, clocks more than 120 s apart, or not a "
           "culvert server";
}

protocol::client_keys keys_of(const config::client_settings& settings) {
    const auto& keys = settings.keys;
    const auto* psk = keys.psk ? &*keys.psk : nullptr;
    if (!keys.identity) return protocol::client_keys::with_psk(*psk, crypto::as_bytes(keys.realm));
    return protocol::client_keys::with_identity(protocol::key_pair_of(keys.identity->clone()),
                                                settings.server_key, psk);
}

awaitable<established> dial(executor ex, const config::client_settings& settings,
                            const protocol::client_keys& keys, dial_means with) {
    const time_point began = clock::now();
    dialer way(ex, settings, keys, with);
    established made = co_await way.run();
    if (with.counts != nullptr) with.counts->add(clock::now() - began);
    co_return made;
}

awaitable<void> open_service(established& session, const std::string& service) {
    co_await session.writer->send(protocol::record_type::open, crypto::as_bytes(service));
    session.opener.open_sent();
}

}  // namespace culvert::relay
