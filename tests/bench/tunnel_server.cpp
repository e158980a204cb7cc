#include "tests/bench/tunnel_server.hpp"

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "bench/listener.hpp"

namespace culvert::load::testing {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::stream_socket;

namespace {

const asio::generic::stream_protocol tcp4{AF_INET, IPPROTO_TCP};

}  // namespace

tunnel_server::tunnel_server(config::server_settings settings)
    : context_(std::make_shared<relay::server_context>(std::move(settings), replays_)) {
    const listener listening = listen_at(context_->settings.listen);
    asio::co_spawn(events_, accept_all(listening.descriptor), asio::detached);
    thread_ = std::thread([this] { events_.run(); });
}

tunnel_server::~tunnel_server() {
    events_.stop();
    thread_.join();
}

awaitable<void> tunnel_server::accept_all(int listening) {
    stream_socket socket(events_.get_executor(), tcp4, listening);
    for (;;) {
        co_await carrier::wait_readable(socket);
        const int fd = ::accept4(socket.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) asio::co_spawn(events_, serve(fd), asio::detached);
    }
}

awaitable<void> tunnel_server::serve(int fd) {
    stream_socket socket(events_.get_executor(), tcp4, fd);
    carrier::prepare(socket);
    const relay::thread_context thread{events_.get_executor(), buffers_};
    const auto session = relay::make_server_session(context_, std::move(socket), thread);
    try {
        co_await session->run();
    } catch (const relay::session_end&) {
        co_return;  // the client sees it, and that is what is tested
    }
}

}  // namespace culvert::load::testing
