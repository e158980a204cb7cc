#include "proxy/relay/session_end.hpp"

namespace culvert::relay {

const char* text_of(end_reason why) noexcept {
    switch (why) {
        case end_reason::clean:
            return "ended";
        case end_reason::application_reset:
            return "application connection failed";
        case end_reason::backend_unreachable:
            return "backend unreachable";
        case end_reason::refused:
            return "service refused";
        case end_reason::too_many:
            return "limit of connections reached";
        case end_reason::not_opened:
            return "nothing was opened";
        case end_reason::connect_failed:
            return "server unreachable";
        case end_reason::no_answer:
        case end_reason::handshake_failed:
            return "handshake failed";
        case end_reason::bad_record:
            return "bad record";
        case end_reason::tunnel_lost:
            return "tunnel connection lost";
        case end_reason::alerted:
            return "ended by the other end";
        case end_reason::dead_peer:
            return "nothing heard from the other end";
        case end_reason::backend_timeout:
        case end_reason::idle:
            return "idle for too long";
        case end_reason::too_old:
            return "older than max-age";
        case end_reason::shutdown:
            return "shutting down";
        case end_reason::removed:
            return "the client was removed from the list";
    }
    return "unknown reason";
}

const char* name_of(end_reason why) noexcept {
    switch (why) {
        case end_reason::clean:
            return "clean";
        case end_reason::application_reset:
            return "application_reset";
        case end_reason::backend_unreachable:
            return "backend_unreachable";
        case end_reason::backend_timeout:
            return "backend_timeout";
        case end_reason::refused:
            return "refused";
        case end_reason::too_many:
            return "too_many";
        case end_reason::not_opened:
            return "not_opened";
        case end_reason::connect_failed:
            return "connect_failed";
        case end_reason::no_answer:
            return "no_answer";
        case end_reason::handshake_failed:
            return "handshake_failed";
        case end_reason::bad_record:
            return "bad_record";
        case end_reason::tunnel_lost:
            return "tunnel_lost";
        case end_reason::alerted:
            return "alerted";
        case end_reason::dead_peer:
            return "dead_peer";
        case end_reason::idle:
            return "idle";
        case end_reason::too_old:
            return "too_old";
        case end_reason::shutdown:
            return "shutdown";
        case end_reason::removed:
            return "removed";
    }
    return "unknown";
}

const char* text_of(protocol::alert code) noexcept {
    switch (code) {
        case protocol::alert::backend_unreachable:
            return "backend unreachable";
        case protocol::alert::backend_reset:
            return "connection reset at the other end";
        case protocol::alert::timeout:
            return "timeout";
        case protocol::alert::shutdown:
            return "the other end is shutting down";
        case protocol::alert::refused:
            return "no such service, or not for this client";
        case protocol::alert::not_opened:
            return "nothing was opened";
    }
    return "unknown alert";
}

std::string session_end::text() const {
    return detail_.empty() ? what() : std::string(what()) + ": " + detail_;
}

session_end bad_record(protocol::error fault, const protocol::opener& at) {
    return session_end(end_reason::bad_record, make_error_code(fault).message() + ", epoch " +
                                                   std::to_string(at.epoch()) + ", record " +
                                                   std::to_string(at.index()));
}

std::optional<protocol::alert> alert_for(end_reason why) noexcept {
    switch (why) {
        case end_reason::application_reset:
            return protocol::alert::backend_reset;
        case end_reason::backend_unreachable:
            return protocol::alert::backend_unreachable;
        case end_reason::refused:
        case end_reason::removed:
            return protocol::alert::refused;
        case end_reason::too_many:
        case end_reason::not_opened:
            return protocol::alert::not_opened;
        case end_reason::backend_timeout:
        case end_reason::idle:
        case end_reason::too_old:
            return protocol::alert::timeout;
        case end_reason::shutdown:
            return protocol::alert::shutdown;
        case end_reason::clean:
        case end_reason::connect_failed:
        case end_reason::no_answer:
        case end_reason::handshake_failed:
        case end_reason::bad_record:
        case end_reason::tunnel_lost:
        case end_reason::alerted:
        case end_reason::dead_peer:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace culvert::relay
