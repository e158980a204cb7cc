// The tunnel's first direction: plaintext to records.
#include <algorithm>
#include <boost/asio/error.hpp>

#include "proxy/relay/tunnel.hpp"

namespace culvert::relay {
namespace asio = boost::asio;

void tunnel::seal_some() {
    for (unsigned round = 0; flush_run(); ++round) {
        if (writer_->ended()) {
            wake();  // perhaps all is complete
            return watch_plain();
        }
        if (round == rounds_at_once) return let_others_run(&tunnel::seal_some);
        if (rate_ && rest_before_sealing()) return;
        if (!seal_next()) return wait_for_plain();
    }
    watch_plain();
    when(writer_->to().socket(), stream_socket::wait_write, &tunnel::seal_some);
}

// True when no run is on its way any more.
bool tunnel::flush_run() {
    if (!writer_->flush()) return false;
    if (out_.sealed > 0) {
        last_stream_ = clock::now();
        ramp_.sent(out_.sealed, last_stream_);
        if (counts_ != nullptr) counts_->to_tunnel(out_.sealed);
        moved_.to_tunnel += std::exchange(out_.sealed, 0);
    }
    return true;
}

// Holds no buffer meanwhile. The failure of a socket that rests waits too, behind its bytes.
bool tunnel::rest_before_sealing() {
    if (out_.drained) return false;
    const time_point now = clock::now();
    if (rate_->out.ready(now) <= now) return false;
    out_.memory.reset();
    rest(rate_->out, &tunnel::seal_some);
    return true;
}

// Begins to write what the application has sent, or its end. False: nothing is there.
bool tunnel::seal_next() {
    if (std::exchange(out_.drained, false)) return false;
    if (!out_.memory) out_.memory = pool_.take();
    std::size_t payload = ramp_.size(clock::now());
    if (rate_) payload = std::min(payload, rate_->out.portion());
    const io_result got = read_slots(payload);
    if (rate_) rate_->out.settle(close_up(payload, got.size).size());
    if (got.ec == asio::error::would_block) return false;
    if (got.ec == asio::error::eof) {
        out_.memory.reset();
        if (kept_ != nullptr) kept_->sent_end();
        writer_->begin_empty(protocol::record_type::end);
        return true;
    }
    if (got.ec) end(end_reason::application_reset, got.ec.message());
    out_.drained = got.drained;
    out_.sealed = got.size;
    if (kept_ != nullptr) kept_->sent(out_.memory->parts, got.size);
    writer_->begin_data(close_up(payload, got.size), payload);
    return true;
}

// Reads straight into the payloads of slots: header 4 || payload || tag 16, one behind the other.
io_result tunnel::read_slots(std::size_t payload) {
    buffer& into = *out_.memory;
    const std::size_t slot = payload + protocol::record_overhead;
    std::size_t most = std::min(buffer::max_parts, buffer::size / slot);
    if (rate_) most = std::min(most, rate_->out.portion() / payload);
    const std::size_t slots = std::min(out_.slots, most);
    for (std::size_t i = 0; i < slots; ++i)
        into.parts[i] = {into.memory.data() + i * slot + protocol::header_size, payload};
    const io_result got = carrier::try_read(plain_, std::span(into.parts).first(slots));
    // As many as this read has filled and one more, or many more when they did not suffice.
    out_.slots = got.drained ? got.size / payload + 1 : std::min(4 * slots, buffer::max_parts);
    return got;
}

// The slots that `size` bytes have filled, the last one as short as its payload.
bytes tunnel::close_up(std::size_t payload, std::size_t size) {
    const std::size_t records = (size + payload - 1) / payload;
    return bytes(out_.memory->memory).first(size + records * protocol::record_overhead);
}

// Holds no buffer while nothing comes.
void tunnel::wait_for_plain() {
    out_.memory.reset();
    when(plain_, stream_socket::wait_read, &tunnel::seal_some);
}

// Nobody reads this socket after END, nor while its bytes wait for the tunnel, but its failure must
// still reach the other end.
void tunnel::watch_plain() {
    if (watching_ || both_ended()) return;
    when(plain_, stream_socket::wait_error, &tunnel::judge_plain);
    watching_ = true;
}

void tunnel::judge_plain() {
    watching_ = false;
    if (finished_ || both_ended()) return;
    // Who reads meets the failure himself, behind the bytes that came before it. To ask for it is
    // to forget it.
    if (!writer_->ended() && !writer_->writing()) return;
    const error_code ec = carrier::error_of(plain_);
    if (ec) end(end_reason::application_reset, ec.message());
}

}  // namespace culvert::relay
