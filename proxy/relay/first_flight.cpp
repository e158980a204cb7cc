#include "proxy/relay/first_flight.hpp"

#include <algorithm>

namespace culvert::relay {
namespace {

using protocol::record_ramp;
using protocol::record_type;

// Copies the payload into the next slot of `memory` and seals it. Returns the size of the record.
std::size_t seal_next(record_writer& writer, record_type type, bytes_view payload, bytes memory) {
    const bytes slot = memory.first(payload.size() + protocol::record_overhead);
    std::copy(payload.begin(), payload.end(), slot.begin() + protocol::header_size);
    writer.seal(type, slot);
    return slot.size();
}

bytes seal_all(record_writer& writer, bytes_view service, bytes_view stream, bytes memory) {
    std::size_t at = seal_next(writer, record_type::open, service, memory);
    while (!stream.empty()) {
        const bytes_view part = stream.first(std::min(record_ramp::first, stream.size()));
        at += seal_next(writer, record_type::data, part, memory.subspan(at));
        stream = stream.subspan(part.size());
    }
    return memory.first(at);
}

}  // namespace

std::size_t room_beside_open(const std::string& service) noexcept {
    return record_ramp::first - protocol::record_overhead - service.size();
}

awaitable<void> open_with(established& session, const std::string& service, bytes_view stream,
                          buffer_pool& buffers) {
    const auto memory = buffers.take();
    record_writer& writer = *session.writer;
    writer.begin(seal_all(writer, crypto::as_bytes(service), stream, memory->memory));
    co_await writer.write_rest();
    session.opener.open_sent();
}

}  // namespace culvert::relay
