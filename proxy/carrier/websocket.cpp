#include "proxy/carrier/websocket.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>

#include "crypto/random.hpp"
#include "proxy/carrier/turn.hpp"

namespace culvert::carrier {
namespace {

namespace ws = websocket;

// The payload of one message: 64 KiB of stream, give or take the overhead of its records.
constexpr std::size_t max_message = 65'536 + 1'024;

class websocket_carrier final : public carrier {
  public:
    websocket_carrier(stream_socket socket, ws::role ours, std::string leftover)
        : writing_(socket.get_executor()),
          socket_(std::move(socket)),
          role_(ours),
          reader_(ours),
          leftover_(std::move(leftover)) {}

    awaitable<error_code> wait_readable() override;
    awaitable<io_result> read_available(bytes into) override;
    awaitable<error_code> write(bytes run) override;
    awaitable<error_code> finish() override;
    [[nodiscard]] bool writable() noexcept override { return culvert::carrier::writable(socket_); }
    void cancel() noexcept override { culvert::carrier::cancel(socket_); }
    void reset() noexcept override { culvert::carrier::reset(socket_); }
    void close() noexcept override { close_quietly(socket_); }

  private:
    io_result read_raw(bytes into);
    awaitable<error_code> answer_ping();
    awaitable<error_code> write_pong();
    awaitable<error_code> write_message(ws::opcode op, bytes payload);
    ws::mask_key next_mask();

    turn writing_;
    stream_socket socket_;
    const ws::role role_;
    ws::frame_reader reader_;
    std::string leftover_;
    bool finished_ = false;  // Close is out: nothing may follow it
    // Mask keys, drawn sixteen at a time.
    std::array<std::uint8_t, 64> masks_{};
    std::size_t masks_used_ = 64;
};

awaitable<error_code> websocket_carrier::wait_readable() {
    if (!leftover_.empty()) co_return error_code{};
    co_return co_await culvert::carrier::wait_readable(socket_);
}

io_result websocket_carrier::read_raw(bytes into) {
    if (leftover_.empty()) return try_read(socket_, into);
    const std::size_t size = std::min(leftover_.size(), into.size());
    std::copy_n(leftover_.begin(), size, into.begin());
    leftover_.erase(0, size);
    return {{}, size};
}

awaitable<io_result> websocket_carrier::read_available(bytes into) {
    // After a Close nothing may follow; the peer is not waited for.
    if (reader_.closed()) co_return io_result{asio::error::eof};
    io_result got = read_raw(into);
    if (got.ec) co_return got;
    got.size = reader_.decode(into.first(got.size));
    if (reader_.failure() != ws::fault::none)
        got.ec = make_error_code(reader_.failure());
    else if (reader_.closed() && got.size == 0)
        got.ec = asio::error::eof;
    else if (const error_code ec = co_await answer_ping(); ec && got.size == 0)
        got.ec = ec;
    co_return got;
}

// Never waits: two ends that write, and read no further because of a ping, would wait for each
// other for ever. What can't be answered now is answered by the write that is in the way.
awaitable<error_code> websocket_carrier::answer_ping() {
    if (!reader_.pinged() || writing_.taken() || !writable()) co_return error_code{};
    const turn::holder held = co_await writing_.take();
    co_return co_await write_pong();
}

// With the turn.
awaitable<error_code> websocket_carrier::write_pong() {
    auto ping = reader_.take_ping();
    if (!ping || finished_) co_return error_code{};
    co_return co_await write_message(ws::opcode::pong, bytes(ping->data).first(ping->size));
}

awaitable<error_code> websocket_carrier::write(bytes run) {
    const turn::holder held = co_await writing_.take();
    while (!run.empty()) {
        const bytes part = run.first(std::min(run.size(), max_message));
        if (const error_code ec = co_await write_message(ws::opcode::binary, part); ec)
            co_return ec;
        if (reader_.pinged()) {
            if (const error_code ec = co_await write_pong(); ec) co_return ec;
        }
        run = run.subspan(part.size());
    }
    co_return error_code{};
}

awaitable<error_code> websocket_carrier::write_message(ws::opcode op, bytes payload) {
    ws::frame_header header;
    if (role_ == ws::role::client) {
        const ws::mask_key mask = next_mask();
        header = ws::make_header(op, payload.size(), &mask);
        ws::apply_mask(payload, mask);
    } else {
        header = ws::make_header(op, payload.size(), nullptr);
    }
    std::array<iovec, 2> parts{iovec{header.data.data(), header.size},
                               iovec{payload.data(), payload.size()}};
    co_return co_await write_all(socket_, std::span<iovec>(parts));
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
    const turn::holder held = co_await writing_.take();
    finished_ = true;
    std::array<std::uint8_t, 2> code{ws::close_normal >> 8, ws::close_normal & 0xff};
    const error_code ec = co_await write_message(ws::opcode::close, code);
    end_writing(socket_);
    co_return ec;
}

}  // namespace

std::unique_ptr<carrier> over_websocket(stream_socket socket, websocket::role ours,
                                        std::string leftover) {
    return std::make_unique<websocket_carrier>(std::move(socket), ours, std::move(leftover));
}

}  // namespace culvert::carrier
