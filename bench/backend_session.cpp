#include "bench/backend_session.hpp"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>

#include "bench/failure.hpp"

namespace culvert::load {

awaitable<void> backend_session::run() {
    if (fixed_) {
        request_ = request{*fixed_, 0, 0, unbounded, 0};
    } else {
        co_await read_request();
        incoming_.emplace(pattern(request_.seed_up));
    }
    co_await serve();
    if (!fixed_) {
        const auto last_word = encode(judge());
        co_await wire_->write(last_word);
    }
    co_await wire_->end();
    co_await wire_->close();
}

verdict backend_session::judge() const noexcept {
    const auto bad = incoming_ ? incoming_->first_bad() : std::nullopt;
    return verdict{received_, sent_, bad.value_or(unbounded)};
}

awaitable<void> backend_session::read_request() {
    std::array<std::uint8_t, request_size> memory;
    std::size_t have = 0;
    while (have < memory.size()) {
        const bytes_view came = co_await wire_->read();
        if (came.empty()) fail_integrity("the connection ended before its request");
        const std::size_t taken = std::min(came.size(), memory.size() - have);
        std::copy_n(came.begin(), taken, memory.begin() + static_cast<std::ptrdiff_t>(have));
        have += taken;
        rest_ = came.subspan(taken);
    }
    const auto decoded = decode_request(memory);
    const bool possible = decoded && (decoded->kind != kind::reply || decoded->size > 0);
    if (!possible) fail_integrity("the connection began with something else than a request");
    request_ = *decoded;
}

awaitable<void> backend_session::serve() {
    switch (request_.kind) {
        case kind::echo:
            return echo();
        case kind::sink:
            return sink();
        case kind::source:
            return source();
        case kind::reply:
            return reply();
    }
    return sink();
}

awaitable<void> backend_session::echo() {
    for (;;) {
        const bytes_view came = co_await receive();
        if (came.empty()) co_return;
        co_await write(came);
    }
}

awaitable<void> backend_session::sink() {
    for (;;) {
        const bytes_view came = co_await receive();
        if (came.empty()) co_return;
    }
}

awaitable<void> backend_session::source() {
    using namespace boost::asio::experimental::awaitable_operators;
    co_await (send_until_end() && await_end());
}

awaitable<void> backend_session::reply() {
    for (;;) {
        const bool whole = co_await receive_exactly(request_.size);
        if (!whole) co_return;
        co_await send(request_.reply_size);
    }
}

// The next bytes of the stream up, checked; they stay until the next call. Empty at the end.
awaitable<bytes_view> backend_session::receive() {
    bytes_view came = std::exchange(rest_, {});
    if (came.empty()) came = co_await wire_->read();
    received_ += came.size();
    served::add(counts_.received, came.size());
    if (incoming_) incoming_->check(came);
    co_return came;
}

// False when the stream ends before that.
awaitable<bool> backend_session::receive_exactly(std::uint64_t size) {
    while (size > 0) {
        if (rest_.empty()) rest_ = co_await wire_->read();
        if (rest_.empty()) co_return false;
        const bytes_view behind = rest_.subspan(std::min<std::uint64_t>(size, rest_.size()));
        rest_ = rest_.first(rest_.size() - behind.size());
        const bytes_view came = co_await receive();
        size -= came.size();
        rest_ = behind;
    }
    co_return true;
}

awaitable<void> backend_session::write(bytes_view data) {
    co_await wire_->write(data);
    sent_ += data.size();
    served::add(counts_.sent, data.size());
}

// The next bytes of the stream down.
awaitable<void> backend_session::send(std::uint64_t size) {
    const pattern outgoing(request_.seed_down);
    while (size > 0) {
        const auto piece = std::min<std::uint64_t>(size, pattern::window);
        co_await write(outgoing.at(sent_, piece));
        size -= piece;
    }
}

awaitable<void> backend_session::send_until_end() {
    while (!client_ended_ && sent_ < request_.size) {
        co_await send(std::min<std::uint64_t>(request_.size - sent_, pattern::window));
        // A fast reader would never let a write wait, and the end could not be noticed.
        co_await boost::asio::post(carrier::use_awaitable);
    }
}

awaitable<void> backend_session::await_end() {
    co_await sink();
    client_ended_ = true;
}

}  // namespace culvert::load
