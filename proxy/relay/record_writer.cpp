#include "proxy/relay/record_writer.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace culvert::relay {

awaitable<void> record_writer::write(bytes run) {
    usable_ = false;  // until the whole run is out: also when this coroutine is cancelled
    const error_code ec = co_await carrier_->write(run);
    if (ec) throw session_end(end_reason::tunnel_lost, ec.message());
    usable_ = true;
    last_sent_ = clock::now();
}

awaitable<void> record_writer::send(protocol::record_type type, bytes_view payload) {
    assert(payload.size() <= protocol::max_service_name);
    const carrier::turn::holder held = co_await take_turn();
    std::array<std::uint8_t, protocol::max_service_name + protocol::record_overhead> memory;
    const bytes slot = bytes(memory).first(payload.size() + protocol::record_overhead);
    std::copy(payload.begin(), payload.end(), slot.begin() + protocol::header_size);
    seal(type, slot);
    co_await write(slot);
}

}  // namespace culvert::relay
