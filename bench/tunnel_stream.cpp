// The stream in culvert/1 records: this program is the client end of the tunnel.
#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>

#include "bench/failure.hpp"
#include "bench/stream.hpp"
#include "bench/turn.hpp"

namespace culvert::load {
namespace {

using carrier::clock;
using protocol::record_type;

constexpr std::chrono::seconds keepalive_after{20};  // far below any dead-peer

// Whether the other end says that it never began, so that nothing can have been lost.
bool never_began(protocol::alert code) noexcept {
    return code == protocol::alert::backend_unreachable || code == protocol::alert::refused ||
           code == protocol::alert::not_opened;
}

class tunnel_stream final : public stream {
  public:
    tunnel_stream(relay::established session, relay::buffer_pool& pool)
        : turn_(session.writer->get_executor()),
          writer_(std::move(session.writer)),
          opener_(std::move(session.opener)),
          leftover_(std::move(session.leftover)),
          pool_(pool) {}
    ~tunnel_stream() override {
        if (!closed_) writer_->to().reset();
    }

    awaitable<bytes_view> read() override;
    awaitable<void> write(bytes_view all) override;
    awaitable<void> end() override;
    awaitable<void> close() override;
    awaitable<void> keep_alive() override;

  private:
    // What a received buffer holds: [0, fed) went through the opener, [fed, size) did not.
    struct inbox {
        relay::buffer_pool::handle memory;
        std::size_t fed = 0;
        std::size_t size = 0;

        [[nodiscard]] bytes unfed() const { return bytes(memory->memory).subspan(fed, size - fed); }
        [[nodiscard]] bytes room() const { return bytes(memory->memory).subspan(size); }
    };

    bytes_view next_payload();
    awaitable<void> receive();
    void make_room();
    void begin_data(bytes memory, bytes_view& from);
    [[nodiscard]] bool both_ended() const noexcept { return opener_.ended() && writer_->ended(); }

    turn turn_;  // of those that write
    std::unique_ptr<relay::record_writer> writer_;
    protocol::opener opener_;
    std::string leftover_;
    relay::buffer_pool& pool_;
    protocol::record_ramp ramp_;
    inbox in_;
    bool closed_ = false;
};

awaitable<bytes_view> tunnel_stream::read() {
    for (;;) {
        const bytes_view payload = next_payload();
        if (!payload.empty()) co_return payload;
        if (opener_.ended()) {
            in_ = {};
            co_return bytes_view();
        }
        co_await receive();
    }
}

// The next DATA of what has been received; empty when there is no whole one.
bytes_view tunnel_stream::next_payload() {
    while (in_.fed < in_.size) {
        protocol::opened_record record;
        const auto done = opener_.feed(in_.unfed(), std::span(&record, 1));
        in_.fed += done.consumed;
        if (done.fault != protocol::error::none)
            fail_integrity("bad record: " + make_error_code(done.fault).message());
        if (done.records == 0) break;
        if (record.type == record_type::data) return record.payload;
        if (record.type == record_type::alert) {
            const auto code = protocol::alert_from(record.payload[0]);
            const std::string why = std::string("ended by the server: ") + relay::text_of(code);
            throw failure(never_began(code) ? failure_kind::connection : failure_kind::integrity,
                          why);
        }
    }
    return {};
}

// Takes what has come behind the unfinished record; waits with no more memory than that needs.
awaitable<void> tunnel_stream::receive() {
    for (;;) {
        make_room();
        if (!leftover_.empty()) {
            std::copy(leftover_.begin(), leftover_.end(), in_.room().begin());
            in_.size += leftover_.size();
            leftover_.clear();
            co_return;
        }
        const auto got = writer_->to().try_read(in_.room());
        if (got.ec == boost::asio::error::eof)
            fail_integrity("the tunnel ended before the stream did");
        if (got.ec && got.ec != boost::asio::error::would_block)
            fail_integrity("the tunnel was cut: " + got.ec.message());
        in_.size += got.size;
        co_await keep_alive();
        if (!got.ec) co_return;
        if (opener_.held() == 0) in_ = {};
        const auto ec = co_await writer_->to().wait_readable();
        if (ec) fail_integrity("the tunnel was cut: " + ec.message());
    }
}

void tunnel_stream::make_room() {
    const std::size_t held = opener_.held();
    if (!in_.memory) in_.memory = pool_.take();
    if (in_.room().size() >= protocol::max_payload && held > 0) return;
    auto* memory = in_.memory->memory.data();
    std::memmove(memory, memory + in_.size - held, held);
    in_.fed = in_.size = held;
}

awaitable<void> tunnel_stream::write(bytes_view all) {
    while (!all.empty()) {
        const auto memory = pool_.take();
        const turn::holder held = co_await turn_.take();
        begin_data(memory->memory, all);
        try {
            co_await writer_->write_rest();
        } catch (const relay::session_end& why) {
            fail_integrity("the tunnel was cut while writing: " + why.detail());
        }
    }
}

// Copies as many bytes into records as the buffer holds, takes them off `from` and begins to write
// them.
void tunnel_stream::begin_data(bytes memory, bytes_view& from) {
    const auto now = clock::now();
    const std::size_t payload = ramp_.size(now);
    std::size_t at = 0;
    while (!from.empty() && memory.size() - at >= payload + protocol::record_overhead) {
        const bytes_view part = from.first(std::min(payload, from.size()));
        std::copy(part.begin(), part.end(), memory.subspan(at + protocol::header_size).begin());
        ramp_.sent(part.size(), now);
        from = from.subspan(part.size());
        at += part.size() + protocol::record_overhead;
    }
    writer_->begin_data(memory.first(at), payload);
}

awaitable<void> tunnel_stream::end() {
    const turn::holder held = co_await turn_.take();
    try {
        co_await writer_->send(record_type::end);
    } catch (const relay::session_end& why) {
        fail_integrity("the tunnel was cut while ending: " + why.detail());
    }
}

// Our side of the goodbye, then the server's: whatever comes of it, both streams are whole.
awaitable<void> tunnel_stream::close() {
    co_await writer_->to().finish();
    const auto waste = pool_.take();
    for (bool more = true; more;) {
        const carrier::io_result got = co_await writer_->to().read_some(waste->memory);
        more = !got.ec;
    }
    writer_->to().close();
    closed_ = true;
}

awaitable<void> tunnel_stream::keep_alive() {
    const bool due = clock::now() - writer_->last_sent() >= keepalive_after;
    if (!due || both_ended() || turn_.taken() || !writer_->idle()) co_return;
    const turn::holder held = co_await turn_.take();
    try {
        co_await writer_->send(record_type::pad);
    } catch (const relay::session_end& why) {
        fail_integrity("the tunnel was cut: " + why.detail());
    }
}

}  // namespace

std::unique_ptr<stream> over_tunnel(relay::established session, relay::buffer_pool& pool) {
    return std::make_unique<tunnel_stream>(std::move(session), pool);
}

}  // namespace culvert::load
