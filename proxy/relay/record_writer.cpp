#include "proxy/relay/record_writer.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cassert>

namespace culvert::relay {

void record_writer::begin(bytes run) {
    assert(!writing());
    unfinished_ = true;
    carrier_->begin_write(run);
}

void record_writer::begin_data(bytes run, std::size_t payload) {
    sealer_.seal_data(run, payload, clock::now());
    begin(run);
}

void record_writer::begin_empty(protocol::record_type type) {
    seal(type, empty_record_);
    begin(empty_record_);
}

bool record_writer::flush() {
    if (!unfinished_) return true;
    const error_code ec = carrier_->continue_write();
    if (ec == boost::asio::error::would_block) return false;
    if (ec) throw session_end(end_reason::tunnel_lost, ec.message());
    unfinished_ = false;
    last_sent_ = clock::now();
    return true;
}

awaitable<void> record_writer::write_rest() {
    while (!flush()) {
        const error_code ec = co_await carrier::wait_writable(carrier_->socket());
        if (ec) throw session_end(end_reason::tunnel_lost, ec.message());
    }
}

awaitable<void> record_writer::send(protocol::record_type type, bytes_view payload) {
    assert(payload.size() <= protocol::max_service_name);
    std::array<std::uint8_t, protocol::max_service_name + protocol::record_overhead> memory;
    const bytes slot = bytes(memory).first(payload.size() + protocol::record_overhead);
    std::copy(payload.begin(), payload.end(), slot.begin() + protocol::header_size);
    seal(type, slot);
    begin(slot);
    co_await write_rest();
}

}  // namespace culvert::relay
