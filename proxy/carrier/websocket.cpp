#include "proxy/carrier/websocket.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>

#include "crypto/random.hpp"

namespace culvert::carrier {
namespace {

namespace ws = websocket;

// The payload of one message: 64 KiB of stream, give or take the overhead of its records.
constexpr std::size_t max_message = 65'536 + 1'024;

class websocket_carrier final : public carrier {
  public:
    websocket_carrier(stream_socket socket, ws::role ours, std::string leftover)
        : socket_(std::move(socket)), role_(ours), reader_(ours), leftover_(std::move(leftover)) {}

    io_result try_read(bytes into) override;
    [[nodiscard]] bool buffered() const noexcept override {
        return !leftover_.empty() || reader_.closed();
    }
    void begin_write(bytes run) override;
    error_code continue_write() override;
    [[nodiscard]] bool writing() const noexcept override { return !run_.empty() || run_in_frames_; }
    [[nodiscard]] stream_socket& socket() noexcept override { return socket_; }
    awaitable<error_code> finish() override;
    [[nodiscard]] bool writable() noexcept override { return culvert::carrier::writable(socket_); }
    void cancel() noexcept override { culvert::carrier::cancel(socket_); }
    void reset() noexcept override { culvert::carrier::reset(socket_); }
    void close() noexcept override { close_quietly(socket_); }

  private:
    // Frames go out together, as many as these: a whole buffer of the relay.
    static constexpr std::size_t frames_at_once = 4;

    io_result read_raw(bytes into);
    error_code answer_ping();
    error_code flush();
    void frame(ws::opcode op, bytes payload);
    void frame_run();
    void frame_pong();
    [[nodiscard]] bool flushed() const noexcept { return parts_used_ == parts_made_; }
    ws::mask_key next_mask();

    stream_socket socket_;
    const ws::role role_;
    ws::frame_reader reader_;
    std::string leftover_;
    bytes run_;                   // of the stream, not in frames yet
    bool run_in_frames_ = false;  // the frames that are on their way hold bytes of the stream
    bool finished_ = false;       // Close is out: nothing may follow it
    // The frames on their way: header, payload, header, …
    std::array<ws::frame_header, frames_at_once> headers_;
    std::array<iovec, 2 * frames_at_once> parts_;
    std::size_t parts_made_ = 0;
    std::size_t parts_used_ = 0;
    ws::control_payload pong_;
    // Mask keys, drawn sixteen at a time.
    std::array<std::uint8_t, 64> masks_{};
    std::size_t masks_used_ = 64;
};

io_result websocket_carrier::read_raw(bytes into) {
    if (leftover_.empty()) return culvert::carrier::try_read(socket_, into);
    const std::size_t size = std::min(leftover_.size(), into.size());
    std::copy_n(leftover_.begin(), size, into.begin());
    leftover_.erase(0, size);
    return {{}, size};
}

io_result websocket_carrier::try_read(bytes into) {
    // After a Close nothing may follow; the peer is not waited for.
    if (reader_.closed()) return {asio::error::eof};
    io_result got = read_raw(into);
    if (got.ec) return got;
    got.size = reader_.decode(into.first(got.size));
    got.drained &= !reader_.closed();  // the end is still to be told
    if (reader_.failure() != ws::fault::none)
        got.ec = make_error_code(reader_.failure());
    else if (reader_.closed() && got.size == 0)
        got.ec = asio::error::eof;
    else if (const error_code ec = answer_ping(); ec && got.size == 0)
        got.ec = ec;
    return got;
}

// What can't be answered now is answered by the write that is in the way. A pong is never waited
// for: two ends that write, and read no further because of a ping, would wait for each other for
// ever.
error_code websocket_carrier::answer_ping() {
    if (!reader_.pinged() || writing() || finished_) return {};
    const error_code ec = continue_write();
    return ec == asio::error::would_block ? error_code{} : ec;
}

void websocket_carrier::begin_write(bytes run) {
    run_ = run;
}

error_code websocket_carrier::continue_write() {
    for (;;) {
        if (const error_code ec = flush(); ec) return ec;
        if (reader_.pinged() && !finished_)
            frame_pong();
        else if (!run_.empty())
            frame_run();
        else
            return {};
    }
}

// Writes the frames that are made.
error_code websocket_carrier::flush() {
    while (!flushed()) {
        const auto rest = std::span(parts_).first(parts_made_).subspan(parts_used_);
        const io_result put = try_write(socket_, rest);
        if (put.ec) return put.ec;
        parts_used_ = parts_made_ - drop_front(rest, put.size).size();
    }
    parts_made_ = parts_used_ = 0;
    run_in_frames_ = false;
    return {};
}

// Precondition: there is room for a frame.
void websocket_carrier::frame(ws::opcode op, bytes payload) {
    ws::frame_header& header = headers_[parts_made_ / 2];
    if (role_ == ws::role::client) {
        const ws::mask_key mask = next_mask();
        header = ws::make_header(op, payload.size(), &mask);
        ws::apply_mask(payload, mask);
    } else {
        header = ws::make_header(op, payload.size(), nullptr);
    }
    parts_[parts_made_++] = {header.data.data(), header.size};
    parts_[parts_made_++] = {payload.data(), payload.size()};
}

void websocket_carrier::frame_run() {
    run_in_frames_ = true;
    while (!run_.empty() && parts_made_ < parts_.size()) {
        const bytes part = run_.first(std::min(run_.size(), max_message));
        frame(ws::opcode::binary, part);
        run_ = run_.subspan(part.size());
    }
}

void websocket_carrier::frame_pong() {
    pong_ = *reader_.take_ping();
    frame(ws::opcode::pong, bytes(pong_.data).first(pong_.size));
}

ws::mask_key websocket_carrier::next_mask() {
    if (masks_used_ == masks_.size()) {
        crypto::fill_random(masks_);
        masks_used_ = 0;
    }
    ws::mask_key mask;
    std::copy_n(masks_.begin() + static_cast<std::ptrdiff_t>(masks_used_), mask.size(),
                mask.begin());
    masks_used_ += mask.size();
    return mask;
}

awaitable<error_code> websocket_carrier::finish() {
    std::array<std::uint8_t, 2> code{ws::close_normal >> 8, ws::close_normal & 0xff};
    error_code ec = co_await write({});  // a pong may be half out
    finished_ = true;
    if (!ec) frame(ws::opcode::close, code);
    if (!ec) ec = co_await write({});
    end_writing(socket_);
    co_return ec;
}

}  // namespace

std::unique_ptr<carrier> over_websocket(stream_socket socket, websocket::role ours,
                                        std::string leftover) {
    return std::make_unique<websocket_carrier>(std::move(socket), ours, std::move(leftover));
}

}  // namespace culvert::carrier
