#include "tests/faults/link.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>

namespace culvert::faults {
namespace {

constexpr std::size_t piece_size = 65'536;
// So long the first half of a swap waits for its second.
constexpr milliseconds patience{200};

}  // namespace

// ---- one direction ----

path::path(link& whole, link_side& from, link_side& to, const path_script& plan, std::uint64_t seed)
    : whole_(whole),
      from_(from),
      to_(to),
      plan_(plan),
      mangler_(plan),
      random_(seed),
      pause_(from.socket.get_executor()),
      memory_(piece_size) {}

awaitable<void> path::run() {
    for (;;) {
        error_code ec = co_await await_input();
        if (ec == asio::error::timed_out) {
            out_.clear();
            mangler_.release(out_);
            co_await write(out_);
            continue;
        }
        std::size_t size = 0;
        if (!ec) size = from_.socket.read_some(asio::buffer(memory_), ec);
        if (ec == asio::error::would_block) continue;
        if (ec && ec != asio::error::eof) {
            source_failed();
            co_return;
        }
        if (ec) break;
        co_await pass_on(crypto::bytes_view(memory_).first(size));
    }
    out_.clear();
    mangler_.release(out_);
    co_await write(out_);
    source_ended();
}

// timed_out: a half of a swap has waited in vain.
awaitable<error_code> path::await_input() {
    if (!mangler_.holding()) {
        const auto [ec] = co_await from_.socket.async_wait(tcp_socket::wait_read, no_throw);
        co_return ec;
    }
    using namespace asio::experimental::awaitable_operators;
    pause_.expires_after(patience);
    auto input = from_.socket.async_wait(tcp_socket::wait_read, no_throw);
    auto too_long = pause_.async_wait(no_throw);
    const auto first = co_await (std::move(input) || std::move(too_long));
    if (first.index() == 1) co_return error_code(asio::error::timed_out);
    co_return std::get<0>(std::get<0>(first));
}

awaitable<void> path::pass_on(crypto::bytes_view piece) {
    if (swallowing_) co_return;
    if (plan_.delay > milliseconds{0}) {
        pause_.expires_after(plan_.delay);
        co_await pause_.async_wait(no_throw);
    }
    out_.clear();
    const bool over = mangler_.feed(piece, out_);
    co_await write(out_);
    if (over && !swallowing_) meet_end();
}

awaitable<void> path::write(crypto::bytes_view all) {
    while (!all.empty() && !swallowing_) {
        const std::size_t segment = next_segment(all.size());
        error_code ec;
        all = all.subspan(to_.socket.write_some(asio::buffer(all.data(), segment), ec));
        if (ec == asio::error::would_block)
            co_await to_.socket.async_wait(tcp_socket::wait_write, no_throw);
        else if (ec)
            swallowing_ = true;  // the path back hears of it too
        if (ec == asio::error::connection_reset) to_.was_reset = true;
    }
}

std::size_t path::next_segment(std::size_t left) {
    if (plan_.segments == segments::as_they_come) return left;
    const std::uint64_t wanted =
        plan_.segments == segments::exactly ? plan_.segment : random_.between(1, plan_.segment);
    return static_cast<std::size_t>(std::min<std::uint64_t>(wanted, left));
}

void path::meet_end() {
    swallowing_ = true;
    switch (plan_.end->how) {
        case fate::cut:
            return whole_.cut();
        case fate::reset:
            return whole_.reset();
        case fate::truncate:
            return end_writing(to_.socket);
        case fate::dark:
            return;
    }
}

bool path::dark() const noexcept {
    return mangler_.ended() && plan_.end->how == fate::dark;
}

void path::source_ended() {
    if (from_.was_reset) return source_failed();
    if (!swallowing_) end_writing(to_.socket);
}

// What passes bytes on passes a RST on too.
void path::source_failed() {
    if (!dark()) close_with_reset(to_.socket);
}

// ---- both ----

link::link(tcp_socket client, tcp_socket server, const script& what, std::uint64_t seed)
    : client_{std::move(client)},
      server_{std::move(server)},
      up_(*this, client_, server_, what.up, seed),
      down_(*this, server_, client_, what.down, ~seed) {
    for (link_side* side : {&client_, &server_}) {
        error_code ignored;
        side->socket.set_option(tcp::no_delay(true), ignored);
        side->socket.non_blocking(true, ignored);
    }
}

void link::cut() {
    up_.swallow();
    down_.swallow();
    end_writing(client_.socket);
    end_writing(server_.socket);
}

void link::reset() noexcept {
    close_with_reset(client_.socket);
    close_with_reset(server_.socket);
}

bool link::harmed() const noexcept {
    const auto touched = [](const path& of) {
        return of.what_was_done().edited() || of.what_was_done().ended();
    };
    return touched(up_) || touched(down_);
}

}  // namespace culvert::faults
