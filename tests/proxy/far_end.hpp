// The other end of a session, played by the test: records by hand on a raw socket.
#pragma once

#include <memory>

#include "proxy/protocol/opener.hpp"
#include "tests/protocol/parties.hpp"
#include "tests/proxy/peer.hpp"

namespace culvert::tests {

// What one end has of a session.
struct session_end_state {
    protocol::sealer sealer;
    protocol::opener opener;
};

inline octets seal_record(protocol::sealer& sealer, protocol::record_type type,
                          crypto::bytes_view payload = {}) {
    octets slot(payload.size() + protocol::record_overhead);
    std::copy(payload.begin(), payload.end(), slot.begin() + protocol::header_size);
    sealer.seal(type, slot, std::chrono::steady_clock::now());
    return slot;
}

// Both ends of a session whose OPEN has arrived.
struct opened_session {
    explicit opened_session(protocol::epoch_limits limits = {})
        : client{protocol::sealer(secret_of(1), protocol::role::client, now(), limits),
                 protocol::opener(secret_of(2), protocol::role::client)},
          server{protocol::sealer(secret_of(2), protocol::role::server, now(), limits),
                 protocol::opener(secret_of(1), protocol::role::server)} {
        octets open = seal_record(client.sealer, protocol::record_type::open);
        std::array<protocol::opened_record, 1> record;
        server.opener.feed(open, record);
        client.opener.open_sent();
    }
    static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

    session_end_state client;
    session_end_state server;
};

class far_end {
  public:
    struct record {
        protocol::record_type type;
        octets payload;
        std::chrono::steady_clock::time_point when;
    };

    far_end(int fd, session_end_state state) : wire(fd), state_(std::move(state)) {}

    // Queues a record, or any bytes; pump() sends them.
    void send(protocol::record_type type, crypto::bytes_view payload = {}) {
        send_raw(sealed(type, payload));
    }
    void send_raw(const octets& data) { out_.insert(out_.end(), data.begin(), data.end()); }
    [[nodiscard]] octets sealed(protocol::record_type type, crypto::bytes_view payload = {}) {
        return seal_record(state_.sealer, type, payload);
    }

    // Sends, and reads unless told not to.
    void pump(bool read = true) {
        if (!out_.empty() && wire.error == 0) {
            const auto sent = static_cast<std::ptrdiff_t>(wire.send(out_));
            out_.erase(out_.begin(), out_.begin() + sent);
        }
        if (read) open(wire);
    }
    [[nodiscard]] bool sent() const noexcept { return out_.empty(); }

    [[nodiscard]] std::size_t count(protocol::record_type type) const {
        std::size_t found = 0;
        for (const record& r : records) found += r.type == type ? 1 : 0;
        return found;
    }
    [[nodiscard]] bool got(protocol::record_type type) const { return count(type) > 0; }
    // 0 when none came.
    [[nodiscard]] int alert() const {
        for (const record& r : records)
            if (r.type == protocol::record_type::alert) return r.payload[0];
        return 0;
    }

    peer wire;
    std::vector<record> records;  // all that came
    octets stream;                // the payload of all DATA
    protocol::error fault = protocol::error::none;
    [[nodiscard]] const protocol::opener& opener() const noexcept { return state_.opener; }

  private:
    void open(peer& from) {
        from.pump();
        const std::size_t held = state_.opener.held();
        in_.insert(in_.end(), from.received.begin(), from.received.end());
        from.received.clear();
        std::size_t fed = held;
        while (fed < in_.size() && fault == protocol::error::none) {
            std::array<protocol::opened_record, 16> opened;
            const auto done = state_.opener.feed(crypto::bytes(in_).subspan(fed), opened);
            fed += done.consumed;
            fault = done.fault;
            for (std::size_t i = 0; i < done.records; ++i) take(opened[i]);
        }
        in_.erase(in_.begin(), in_.end() - static_cast<std::ptrdiff_t>(state_.opener.held()));
    }
    void take(const protocol::opened_record& opened) {
        const octets payload(opened.payload.begin(), opened.payload.end());
        records.push_back({opened.type, payload, std::chrono::steady_clock::now()});
        if (opened.type == protocol::record_type::data)
            stream.insert(stream.end(), payload.begin(), payload.end());
    }

    session_end_state state_;
    octets out_;
    octets in_;
};

}  // namespace culvert::tests
