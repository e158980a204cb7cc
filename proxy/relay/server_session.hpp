// The server end: a stranger's connection that may prove to be a client's, and the backend it
// asks for. The states are those of PROTOCOL.md section 7.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/carrier/carrier.hpp"
#include "proxy/carrier/http_upgrade.hpp"
#include "proxy/carrier/turn.hpp"
#include "proxy/relay/cancellation.hpp"
#include "proxy/relay/deadline.hpp"
#include "proxy/relay/established.hpp"
#include "proxy/relay/plain_relay.hpp"
#include "proxy/relay/proxy_protocol.hpp"
#include "proxy/relay/server_context.hpp"
#include "proxy/relay/session.hpp"
#include "proxy/relay/tunnel.hpp"

namespace culvert::relay {

class server_session final : public session, public std::enable_shared_from_this<server_session> {
  public:
    server_session(std::shared_ptr<const server_context> context, carrier::stream_socket socket,
                   thread_context thread)
        : context_(std::move(context)),
          thread_(thread),
          socket_(std::move(socket)),
          peer_(carrier::peer_name(socket_)) {}
    ~server_session() override;

    awaitable<void> run() override;
    void stop(end_reason why) override;
    void drain() override;
    [[nodiscard]] observe::session_facts facts() const override;
    [[nodiscard]] observe::section_counters& counters() const override {
        return *context_->counters;
    }
    [[nodiscard]] bool known_to(const server_context& section) const override;
    [[nodiscard]] traffic moved() const override { return tunnel_ ? tunnel_->moved() : traffic{}; }
    [[nodiscard]] bool proven() const override { return proven_; }
    [[nodiscard]] bool unused() const override {
        return !opened_ && (dropped_ || stop_ == end_reason::not_opened);
    }

  private:
    // server_session_strangers.cpp: states A, B, P and S.
    awaitable<void> admit();
    [[nodiscard]] bool comes_from_proxy();
    awaitable<void> hear_proxy(unproven_registry::ticket& counted);
    awaitable<void> read_proxy_header(proxy_header_reader& header);
    awaitable<void> await_first_byte();
    awaitable<void> upgrade();
    struct flight {
        std::size_t size = 0;
        time_point since{};    // of the first byte
        std::string whole;     // where there is a fallback that it may be for
        std::string leftover;  // behind message 1
    };
    awaitable<std::string> shake_hands(protocol::server_handshake& handshake);
    error_code read_first_message(protocol::server_handshake& handshake, flight& first);
    awaitable<void> give_up(const protocol::server_handshake& handshake, flight& first,
                            error_code why);
    awaitable<void> refuse(const protocol::server_handshake& handshake, flight& first);
    awaitable<void> stay_silent(const char* counted, const std::string& why);
    awaitable<void> throw_all_away();
    error_code throw_away();
    void report_stranger(const std::string& why,
                         observe::log_level level = observe::log_level::warning);
    void report_gone(std::size_t received);
    unproven_registry::ticket register_unproven(const config::address_bytes& address);
    carrier::stream_socket& stranger() noexcept { return carrier_ ? carrier_->socket() : socket_; }
    [[nodiscard]] observe::connection_counters& connections() const noexcept {
        return context_->counters->connections(thread_.number);
    }
    void close_stranger() noexcept;

    // server_session_fallback.cpp: those whose answer is the fallback's.
    awaitable<carrier::websocket::upgrade_result> await_upgrade();
    awaitable<error_code> wait_for_flight(const protocol::server_handshake& handshake,
                                          const flight& first);
    awaitable<void> fall_back(std::string received, bool ended);
    awaitable<std::unique_ptr<carrier::carrier>> reach_fallback();
    awaitable<void> visit(std::unique_ptr<carrier::carrier> fallback, std::string received,
                          bool ended);

    // server_session_opening.cpp: states F and W.
    awaitable<std::string> await_open();
    awaitable<void> read_opening(std::vector<std::uint8_t>& memory, std::size_t& size);
    awaitable<void> wait_for_client();
    void prove();
    void enter_waiting_room();
    void leave_waiting_room();

    // State O.
    awaitable<void> open_tunnel();
    [[nodiscard]] std::unique_ptr<throttle> rate_of_client() const;
    void take_seat();
    awaitable<carrier::stream_socket> reach_backend();
    [[nodiscard]] error_code announce(carrier::stream_socket& backend);
    [[nodiscard]] std::optional<proxied> origin();
    void count_session(const std::string& service);

    const std::shared_ptr<const server_context> context_;
    const thread_context thread_;
    carrier::stream_socket socket_;  // until there is a carrier
    std::string peer_;
    std::unique_ptr<proxied> proxied_;  // what the proxy in front says of the connection
    const time_point accepted_ = clock::now();
    std::unique_ptr<carrier::carrier> carrier_;  // until there is a writer
    std::optional<deadline> handshake_deadline_;
    // Whoever is no client may go to the fallback; not any more once we have answered him.
    bool falls_back_ = context_->settings.fallback.is_set();
    std::unique_ptr<plain_relay> stay_;   // of a stranger, to the fallback
    std::unique_ptr<established> far_;    // until there is a tunnel
    cancellation* connecting_ = nullptr;  // while the backend is being connected
    observe::meter meter_;
    std::optional<tunnel> tunnel_;
    std::optional<end_reason> stop_;
    const known_client* known_ = nullptr;      // who shows a key, proven or not
    std::string client_;                       // his name
    slot in_section_;                          // once proven
    slot of_client_;                           // the same of his own
    slot waiting_;                             // in the waiting room
    std::string service_;                      // asked for
    backends* backends_ = nullptr;             // of it
    std::optional<backends::seat> seat_;       // there
    std::optional<place::visit> visit_;        // at one of its targets
    time_point whole_by_ = time_point::max();  // the record that is coming, before OPEN
    bool is_proxy_ = false;                    // the peer, and he speaks for himself
    bool proven_ = false;                      // record 0 has verified
    const char* unproven_ = nullptr;           // why it is, as the counters say; nullptr: not begun
    bool opened_ = false;
    bool draining_ = false;
    bool dropped_ = false;  // by a client that has no use for it any more
    carrier::turn turn_;    // of a client that sends PADs
};

// `socket` is prepared; the clock of the handshake begins now.
std::shared_ptr<session> make_server_session(std::shared_ptr<const server_context> context,
                                             carrier::stream_socket socket, thread_context thread);

}  // namespace culvert::relay
