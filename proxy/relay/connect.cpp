#include "proxy/relay/connect.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <optional>

#include "proxy/relay/deadline.hpp"
#include "proxy/relay/race.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::error_code;
using carrier::stream_socket;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

// A unix listener whose queue is full has no way to tell when there is room again.
constexpr std::chrono::milliseconds try_again{20};

class connector {
  public:
    connector(const carrier::executor& ex, const config::endpoint& to, carrier::time_point by,
              closing how, resolver& names, cancellation* cancel)
        : ex_(ex), to_(to), by_(by), how_(how), names_(names), cancel_(cancel) {}

    awaitable<connected> run();

  private:
    // No addresses: ec says why.
    struct places {
        error_code ec;
        std::vector<stream_endpoint> all;
    };
    [[nodiscard]] std::optional<stream_endpoint> without_lookup() const;
    awaitable<places> look_up();
    awaitable<connected> to_one(stream_endpoint place);
    awaitable<connected> to_any(std::vector<stream_endpoint> all);
    [[nodiscard]] error_code judge(const deadline& limit, error_code ec) const;

    const carrier::executor ex_;
    const config::endpoint& to_;
    const carrier::time_point by_;
    const closing how_;
    resolver& names_;
    cancellation* const cancel_;
};

awaitable<connected> connector::run() {
    const auto place = without_lookup();
    if (place) co_return co_await to_one(*place);
    places found = co_await look_up();
    if (found.ec) co_return connected{found.ec, false, stream_socket(ex_)};
    if (found.all.size() == 1) co_return co_await to_one(found.all.front());
    co_return co_await to_any(std::move(found.all));
}

std::optional<stream_endpoint> connector::without_lookup() const {
    if (to_.is_unix()) return asio::local::stream_protocol::endpoint(to_.unix_path);
    error_code not_numeric;
    const auto address = asio::ip::make_address(to_.host, not_numeric);
    if (not_numeric) return std::nullopt;
    return asio::ip::tcp::endpoint(address, to_.port);
}

awaitable<connector::places> connector::look_up() {
    resolver::query query(ex_, names_, to_.host);
    const deadline limit(
        ex_, by_, [&query] { query.cancel(); }, cancel_);
    const resolved found = co_await query.run();
    places result{judge(limit, found.ec), {}};
    if (!result.ec) result.all = interleaved(*found.addresses, to_.port);
    co_return result;
}

awaitable<connected> connector::to_one(stream_endpoint place) {
    attempt only(ex_, place, how_);
    error_code ec = only.begin();
    if (ec == asio::error::in_progress || ec == asio::error::would_block) {
        carrier::timer pause(ex_);
        const auto stop = [&only, &pause] {
            carrier::cancel(only.socket());
            pause.cancel();
        };
        const deadline limit(ex_, by_, stop, cancel_);
        while (ec == asio::error::would_block && !limit.passed()) {
            pause.expires_after(try_again);
            co_await pause.async_wait(no_throw);
            ec = only.begin();
        }
        if (ec == asio::error::in_progress) {
            auto [waited] = co_await only.socket().async_wait(stream_socket::wait_write, no_throw);
            ec = waited ? waited : only.settle();
        }
        ec = judge(limit, ec);
    }
    co_return connected{ec, true, std::move(only.socket())};
}

awaitable<connected> connector::to_any(std::vector<stream_endpoint> all) {
    const auto running = std::make_shared<race>(ex_, std::move(all), how_);
    const deadline limit(
        ex_, by_, [&running] { running->stop(); }, cancel_);
    race::result done = co_await running->run();
    if (!done.winner) co_return connected{judge(limit, done.ec), true, stream_socket(ex_)};
    co_return connected{{}, true, std::move(done.winner->socket())};
}

error_code connector::judge(const deadline& limit, error_code ec) const {
    if (!ec || !limit.passed()) return ec;
    const bool cancelled = cancel_ != nullptr && cancel_->requested();
    return cancelled ? asio::error::operation_aborted : asio::error::timed_out;
}

}  // namespace

awaitable<connected> connect(carrier::executor ex, const config::endpoint& to,
                             carrier::time_point by, closing how, resolver& names,
                             cancellation* cancel) {
    connector way(ex, to, by, how, names, cancel);
    connected result = co_await way.run();
    if (result.ec) {
        error_code ignored;
        result.socket.close(ignored);
    } else {
        carrier::prepare(result.socket);
    }
    co_return result;
}

}  // namespace culvert::relay
