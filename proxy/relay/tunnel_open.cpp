// The tunnel's other direction: records to plaintext.
#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>

#include "proxy/relay/tunnel.hpp"

namespace culvert::relay {
namespace asio = boost::asio;

void tunnel::open_some() {
    listening_.reset();
    for (unsigned round = 0; round < rounds_at_once; ++round) {
        do {
            if (!deliver()) {
                unfinished_.reset();
                return when(plain_, stream_socket::wait_write, &tunnel::open_some);
            }
        } while (open_next());
        if (rate_ && rest_before_opening()) return;
        if (!receive()) return wait_for_records();
        if (other_left_) return;
    }
    let_others_run(&tunnel::open_some);
}

// Writes to the application what has verified, and does what its records say. False: the
// application takes no more now.
bool tunnel::deliver() {
    while (!in_.parts.empty()) {
        const io_result put = carrier::try_write(plain_, in_.parts);
        if (put.ec == asio::error::would_block) return false;
        if (put.ec) end(end_reason::application_reset, put.ec.message());
        in_.parts = carrier::drop_front(in_.parts, put.size);
    }
    if (in_.payload > 0) {
        last_stream_ = clock::now();
        if (counts_ != nullptr) counts_->from_tunnel(in_.payload);
        moved_.from_tunnel += std::exchange(in_.payload, 0);
    }
    if (!both_ended()) judge(in_.fault);  // after both ENDs nothing counts that still comes
    if (opener_.ended() && !std::exchange(delivered_, true)) {
        carrier::end_writing(plain_);
        wake();  // perhaps all is complete
    }
    return true;
}

// Opens what has come. False: all of it is opened.
bool tunnel::open_next() {
    if (!in_.memory || in_.opened == in_.size || both_ended()) return false;
    const auto done = opener_.feed(in_.unopened(), in_.memory->records);
    in_.opened += done.consumed;
    in_.fault = done.fault;
    if (done.records > 0) unfinished_.reset();
    collect(done.records);
    return true;
}

// Lists the stream bytes of the opened records for one gathered write.
void tunnel::collect(std::size_t records) {
    std::size_t parts = 0;
    for (const auto& record : std::span(in_.memory->records).first(records)) {
        if (kept_ != nullptr) kept_->received(record.type, record.payload);
        if (record.type == protocol::record_type::data) {
            in_.memory->parts[parts++] = {record.payload.data(), record.payload.size()};
            in_.payload += record.payload.size();
        } else if (record.type == protocol::record_type::alert) {
            alert_ = protocol::alert_from(record.payload[0]);
        }
    }
    in_.parts = std::span(in_.memory->parts).first(parts);
}

// Ends the session on an ALERT, or on a record that may not be.
void tunnel::judge(protocol::error fault) {
    if (alert_) end(end_reason::alerted, text_of(*alert_));
    if (fault != protocol::error::none) throw bad_record(fault, opener_);
}

// With no more memory than an unfinished record takes, whose clock stops meanwhile: the other end
// is not heard because nobody listens. A goodbye is not held back.
bool tunnel::rest_before_opening() {
    if (in_.drained || both_ended()) return false;
    const time_point now = clock::now();
    const time_point until = rate_->in.ready(now);
    if (until <= now) return false;
    if (opener_.held() == 0) in_.memory.reset();
    if (unfinished_) *unfinished_ += until - now;
    rest(rate_->in, &tunnel::open_some);
    return true;
}

// Takes bytes behind the unfinished record, or the end. False: nothing is there.
bool tunnel::receive() {
    if (std::exchange(in_.drained, false)) return false;
    const io_result got = read_records();
    if (rate_) rate_->in.settle(got.size);
    if (got.ec == asio::error::would_block) return false;
    if (both_ended()) {
        // Whatever still comes changes nothing; a reset now is as good as an end.
        in_.memory.reset();
        if (!got.ec) return true;
        if (writer_->writing()) end(end_reason::tunnel_lost, got.ec.message());
        other_left();
        return true;
    }
    if (got.ec == asio::error::eof) end(end_reason::tunnel_lost, "it ended before the stream did");
    if (got.ec) end(end_reason::tunnel_lost, got.ec.message());
    in_.size += got.size;
    in_.drained = got.drained;
    return true;
}

io_result tunnel::read_records() {
    make_room(opener_.held());
    if (!in_.memory) in_.memory = pool_.take();
    bytes room = in_.room();
    if (rate_) room = room.first(std::min(room.size(), rate_->in.portion()));
    if (leftover_.empty()) return writer_->to().try_read(room);
    const io_result got{{}, leftover_.size()};
    std::copy(leftover_.begin(), leftover_.end(), in_.room().begin());
    leftover_ = std::string();
    return got;
}

void tunnel::make_room(std::size_t held) {
    if (in_.memory && held > 0 && in_.room().size() < protocol::max_payload)
        std::memmove(in_.memory->memory.data(), in_.memory->memory.data() + in_.size - held, held);
    else if (held > 0)
        return;
    in_.opened = in_.size = held;
}

// With no more memory than an unfinished record takes.
void tunnel::wait_for_records() {
    if (opener_.held() == 0) in_.memory.reset();
    listening_ = clock::now();
    if (opener_.held() > 0 && !unfinished_) unfinished_ = listening_;
    carrier::carrier& from = writer_->to();
    if (from.buffered()) return let_others_run(&tunnel::open_some);
    when(from.socket(), stream_socket::wait_read, &tunnel::open_some);
}

}  // namespace culvert::relay
