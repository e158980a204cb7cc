#include "tests/faults/application.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

namespace culvert::faults {

application::application(tcp_socket socket, const application_script& plan, std::uint64_t own_seed,
                         std::uint64_t other_seed)
    : socket_(std::move(socket)),
      plan_(plan),
      own_(own_seed),
      other_(load::pattern(other_seed)),
      random_(own_seed),
      pause_(socket_.get_executor()),
      heard_(socket_.get_executor(), carrier::time_point::max()) {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
}

awaitable<void> application::write() {
    if (plan_.end == ending::reply) {
        const bool heard = co_await hear_other_end();
        if (!heard) co_return;
    }
    const bool written = co_await write_up_to(plan_.leaves ? plan_.leaves->at : plan_.send);
    if (!written) co_return;
    if (plan_.leaves) {
        leave(plan_.leaves->how);
        co_return;
    }
    if (plan_.end == ending::late) {
        const bool heard = co_await hear_other_end();
        if (!heard) co_return;
    }
    error_code ec;
    socket_.shutdown(tcp_socket::shutdown_send, ec);
    report_.ended = !ec;
}

// False when the connection has failed. Asio could tell the reader of an end before it tells the
// writer of the RST that made it: so both ask the socket themselves, and Asio only when to.
awaitable<bool> application::write_up_to(std::uint64_t size) {
    while (report_.written < size) {
        const std::uint64_t left = size - report_.written;
        // Whole pieces when nothing was said of them.
        const std::uint64_t most =
            plan_.piece == longest_span ? longest_span : random_.between(1, plan_.piece);
        const auto piece = own_.at(report_.written, static_cast<std::size_t>(std::min(left, most)));
        error_code ec;
        report_.written += socket_.write_some(asio::buffer(piece.data(), piece.size()), ec);
        if (ec == asio::error::would_block) {
            co_await socket_.async_wait(tcp_socket::wait_write, no_throw);
        } else if (ec) {
            write_failed(ec);
            co_return false;
        }
    }
    co_return true;
}

// False when there was no clean one.
awaitable<bool> application::hear_other_end() {
    while (report_.saw == seen_end::nothing && socket_.is_open())
        co_await heard_.async_wait(no_throw);
    co_return report_.saw == seen_end::clean;
}

// Behind a FIN the kernel calls a RST a broken pipe: what was read ended well before.
void application::write_failed(const error_code& ec) {
    if (ec == asio::error::connection_reset) was_reset_ = true;
}

void application::leave(leaving how) {
    if (report_.saw == seen_end::nothing) report_.saw = seen_end::left;
    if (how == leaving::reset) return close_with_reset(socket_);
    // Bytes that nobody has read make the kernel send a RST behind the FIN.
    report_.ended = true;
    error_code ignored;
    socket_.close(ignored);
}

awaitable<void> application::read() {
    std::vector<std::uint8_t> memory(static_cast<std::size_t>(plan_.read));
    for (;;) {
        error_code ec;
        const std::size_t size = socket_.read_some(asio::buffer(memory), ec);
        if (ec == asio::error::would_block) {
            co_await socket_.async_wait(tcp_socket::wait_read, no_throw);
            continue;
        }
        if (ec) {
            read_ended(ec);
            co_return;
        }
        other_.check(crypto::bytes_view(memory).first(size));
        if (plan_.rest == milliseconds{0}) continue;
        pause_.expires_after(plan_.rest);
        co_await pause_.async_wait(no_throw);
    }
}

void application::read_ended(const error_code& ec) {
    if (report_.saw != seen_end::nothing) return;
    if (!socket_.is_open()) {
        report_.error = "given up";
    } else if (was_reset_ || ec == asio::error::connection_reset) {
        report_.saw = seen_end::reset;
    } else if (ec == asio::error::eof) {
        report_.saw = seen_end::clean;
    } else {
        report_.saw = seen_end::other;
        report_.error = ec.message();
    }
    heard_.cancel();
}

end_report application::report() const {
    end_report out = report_;
    out.read = other_.received();
    out.first_wrong = other_.first_bad();
    return out;
}

}  // namespace culvert::faults
