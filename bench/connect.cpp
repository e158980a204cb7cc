#include "bench/connect.hpp"

#include <boost/asio/error.hpp>

#include "bench/failure.hpp"
#include "proxy/relay/connect.hpp"

namespace culvert::load {
namespace {

constexpr std::chrono::seconds connect_time{10};

const char* advice(const carrier::error_code& ec) noexcept {
    if (ec == boost::asio::error::connection_refused ||
        ec == boost::system::errc::no_such_file_or_directory)
        return "; does anything listen there? `culvert-load serve` starts a backend";
    if (ec == boost::system::errc::too_many_files_open) return "; allow more with `ulimit -n`";
    if (ec == boost::system::errc::address_not_available)
        return "; all local ports are in use by connections that ended lately";
    return "";
}

}  // namespace

awaitable<std::unique_ptr<stream>> connect_plain(carrier::executor ex, const config::endpoint& to,
                                                 relay::buffer_pool& pool) {
    const auto by = carrier::clock::now() + connect_time;
    relay::connected got =
        co_await relay::connect(ex, to, by, relay::closing::quiet, relay::system_resolver());
    if (got.ec)
        fail_connection("cannot connect to " + to.text() + ": " +
                        (got.resolved ? "" : "name lookup: ") + got.ec.message() + advice(got.ec));
    co_return over_socket(std::move(got.socket), pool);
}

awaitable<std::unique_ptr<stream>> connect_tunnel(carrier::executor ex,
                                                  const config::client_settings& to,
                                                  const protocol::client_keys& keys,
                                                  relay::buffer_pool& pool) {
    try {
        const relay::dial_means with;
        relay::established session = co_await relay::dial(ex, to, keys, with);
        co_await relay::open_service(session, to.service);
        co_return over_tunnel(std::move(session), pool);
    } catch (const relay::session_end& why) {
        fail_connection(std::string(why.what()) + ": " + why.detail());
    }
}

}  // namespace culvert::load
