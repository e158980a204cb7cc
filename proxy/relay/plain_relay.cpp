#include "proxy/relay/plain_relay.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::stream_socket;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

}  // namespace

plain_relay::plain_relay(std::unique_ptr<carrier::carrier> stranger,
                         std::unique_ptr<carrier::carrier> backend, carrier::clock::duration idle)
    : stranger_(std::move(stranger)),
      backend_(std::move(backend)),
      idle_(idle),
      watch_timer_(stranger_->socket().get_executor()) {}

awaitable<plain_relay::outcome> plain_relay::run(std::string received, bool ended) {
    try {
        begin(to_backend_, std::move(received), ended);
        begin(to_stranger_, {}, false);
    } catch (const std::bad_alloc&) {
        end(outcome::failed);
    }
    while (running_ > 0) {
        const time_point due = last_moved_ + idle_;
        if (!over_ && carrier::clock::now() >= due) end(outcome::idle);
        watch_timer_.expires_at(over_ ? time_point::max() : due);
        co_await watch_timer_.async_wait(no_throw);
    }
    co_return outcome_;
}

void plain_relay::begin(direction& way, std::string first, bool ended) {
    asio::co_spawn(watch_timer_.get_executor(), carry(way, std::move(first), ended),
                   [this](const std::exception_ptr& no_memory) {
                       --running_;
                       if (no_memory) end(outcome::failed);
                       watch_timer_.cancel();
                   });
    ++running_;
}

// One direction, from its first byte to its end, and what becomes of its source afterwards.
awaitable<void> plain_relay::carry(direction& way, std::string first, bool ended) {
    error_code ec;
    if (!first.empty()) {
        way.moved = first.size();
        ec = co_await way.to.write(
            carrier::bytes(reinterpret_cast<std::uint8_t*>(first.data()), first.size()));
        first = std::string();
    }
    if (!ec && !ended) ec = co_await pass_on(way);
    if (!ec) ec = co_await way.to.finish();
    if (!ec && ++ended_ == 2) end(outcome::ended);
    if (!ec && !over_) ec = co_await watch(way);
    if (ec) end(outcome::failed);
}

awaitable<error_code> plain_relay::pass_on(direction& way) {
    bool ended = false;
    while (!ended) {
        error_code ec = co_await way.from.wait_readable();
        if (!ec) ec = co_await move_some(way, ended);
        if (ec) co_return ec;
    }
    co_return error_code{};
}

// For as long as there are bytes. A coroutine of its own: its buffer is gone while it waits.
awaitable<error_code> plain_relay::move_some(direction& way, bool& ended) {
    const auto memory = std::make_unique<std::array<std::uint8_t, piece_size>>();
    for (;;) {
        const carrier::io_result got = way.from.try_read(*memory);
        ended = got.ec == asio::error::eof;
        if (ended || got.ec == asio::error::would_block) co_return error_code{};
        if (got.ec) co_return got.ec;
        const error_code ec = co_await way.to.write(carrier::bytes(*memory).first(got.size));
        if (ec) co_return ec;
        way.moved += got.size;
        last_moved_ = carrier::clock::now();
        if (got.drained) co_return error_code{};
        if (turn_.over()) co_await carrier::let_others_run(watch_timer_.get_executor());
    }
}

// Nobody reads the source any more, but its reset must still reach the other side.
awaitable<error_code> plain_relay::watch(direction& way) {
    stream_socket& source = way.from.socket();
    co_await source.async_wait(stream_socket::wait_error, no_throw);
    if (over_ || !source.is_open() || !carrier::has_failed(source)) co_return error_code{};
    co_return asio::error::connection_reset;
}

void plain_relay::end(outcome why) {
    if (over_) return;
    over_ = true;
    outcome_ = why;
    for (carrier::carrier* side : {stranger_.get(), backend_.get()})
        why == outcome::ended ? side->close() : side->reset();
    watch_timer_.cancel();
}

}  // namespace culvert::relay
