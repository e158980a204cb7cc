// Both ends of a session, as a handshake would leave them; the keys are as good as any.
#pragma once

#include "proxy/protocol/opener.hpp"
#include "proxy/protocol/sealer.hpp"

namespace culvert::ladder {

inline crypto::secret<32> secret_of(std::uint8_t fill) {
    crypto::secret<32> out;
    for (std::uint8_t& byte : out.writable()) byte = fill++;
    return out;
}

struct session_end_state {
    protocol::sealer sealer;
    protocol::opener opener;
};

// OPEN has been sent and has arrived.
struct opened_session {
    opened_session() {
        std::array<std::uint8_t, protocol::record_overhead> open{};
        std::array<protocol::opened_record, 1> record;
        client.sealer.seal(protocol::record_type::open, open, began);
        server.opener.feed(open, record);
        client.opener.open_sent();
    }

    protocol::steady_time began = std::chrono::steady_clock::now();
    session_end_state client{protocol::sealer(secret_of(1), protocol::role::client, began),
                             protocol::opener(secret_of(2), protocol::role::client)};
    session_end_state server{protocol::sealer(secret_of(2), protocol::role::server, began),
                             protocol::opener(secret_of(1), protocol::role::server)};
};

}  // namespace culvert::ladder
