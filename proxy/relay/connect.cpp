#include "proxy/relay/connect.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <vector>

#include "proxy/relay/deadline.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using carrier::awaitable;
using carrier::error_code;
using carrier::executor;
using carrier::stream_socket;
using carrier::use_awaitable;
using endpoint = asio::generic::stream_protocol::endpoint;

constexpr auto no_throw = asio::as_tuple(use_awaitable);

struct addresses {
    error_code ec;
    std::vector<endpoint> all;
};

awaitable<addresses> resolve(executor ex, const config::endpoint& to) {
    addresses found;
    if (to.is_unix()) {
        found.all.emplace_back(asio::local::stream_protocol::endpoint(to.unix_path));
        co_return found;
    }
    error_code not_numeric;
    const auto address = asio::ip::make_address(to.host, not_numeric);
    if (!not_numeric) {
        found.all.emplace_back(tcp::endpoint(address, to.port));
        co_return found;
    }
    asio::ip::basic_resolver<tcp, executor> resolver(ex);
    const std::string port = std::to_string(to.port);
    auto [ec, results] = co_await resolver.async_resolve(
        to.host, port, asio::ip::resolver_base::numeric_service, no_throw);
    found.ec = ec;
    for (const auto& entry : results) found.all.emplace_back(entry.endpoint());
    co_return found;
}

// Asio's reactor watches a socket that has once waited to write, or to connect, for room from then
// on, so that each later wait to read would wake for nothing first. A fresh registration forgets.
void forget_connecting(stream_socket& socket, const endpoint& address) {
    error_code ec;
    const int fd = socket.release(ec);
    if (!ec) socket.assign(address.protocol(), fd, ec);
}

}  // namespace

awaitable<connected> connect(executor ex, const config::endpoint& to, carrier::time_point by,
                             closing how) {
    connected result{{}, false, stream_socket(ex)};
    const addresses found = co_await resolve(ex, to);
    result.ec = found.ec;
    result.resolved = !found.ec;
    stream_socket& socket = result.socket;
    const deadline limit(ex, by, [&socket] { carrier::cancel(socket); });
    for (const endpoint& address : found.all) {
        error_code opened;
        socket.close(opened);
        socket.open(address.protocol(), opened);
        if (opened) {
            result.ec = opened;
            continue;
        }
        carrier::arm_reset(socket, how == closing::reset);
        auto [ec] = co_await socket.async_connect(address, no_throw);
        result.ec = limit.passed() ? error_code(asio::error::timed_out) : ec;
        if (!result.ec) {
            forget_connecting(socket, address);
            carrier::prepare(socket);
            break;
        }
        if (limit.passed()) break;
    }
    co_return result;
}

}  // namespace culvert::relay
