// Why a session ended: a value for the log, and what the two sides are told.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "proxy/protocol/opener.hpp"

namespace culvert::relay {

enum class end_reason : std::uint8_t {
    clean,                // END both ways
    application_reset,    // the plaintext socket of this end failed
    backend_unreachable,  // server: the service did not answer
    backend_timeout,      // server: the service did not answer in time
    refused,              // server: no such service, or not for this client
    too_many,             // a limit of connections was reached
    not_opened,           // the client went away, or we shut down, before OPEN
    connect_failed,       // client: the server could not be reached
    no_answer,            // client: the server could be reached, and gave no answer
    handshake_failed,     // no session came about
    bad_record,           // tampered with, or a broken peer
    tunnel_lost,          // the carrier ended or failed before END
    alerted,              // the other end said why it had to end
    dead_peer,            // nothing received for too long
    idle,                 // no stream byte for too long
    too_old,              // max-age
    shutdown,             // this daemon is stopping
    removed,              // server: the client is listed no more
};
[[nodiscard]] const char* text_of(end_reason why) noexcept;
[[nodiscard]] const char* name_of(end_reason why) noexcept;  // for programs
[[nodiscard]] const char* text_of(protocol::alert code) noexcept;

// Thrown through the coroutines of a session; caught once, logged once.
class session_end : public std::exception {
  public:
    explicit session_end(end_reason why, std::string detail = {})
        : why_(why), detail_(std::move(detail)) {}

    [[nodiscard]] end_reason why() const noexcept { return why_; }
    [[nodiscard]] const std::string& detail() const noexcept { return detail_; }
    [[nodiscard]] const char* what() const noexcept override { return text_of(why_); }
    [[nodiscard]] std::string text() const;  // both, for the log

  private:
    end_reason why_;
    std::string detail_;
};

// The end by a record that may not be: what is wrong, and where `at` met it.
[[nodiscard]] session_end bad_record(protocol::error fault, const protocol::opener& at);

// The ALERT that tells the other end; none where it gets a reset instead (PROTOCOL.md section 6).
[[nodiscard]] std::optional<protocol::alert> alert_for(end_reason why) noexcept;

}  // namespace culvert::relay
