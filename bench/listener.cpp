#include "bench/listener.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "bench/failure.hpp"
#include "proxy/carrier/net.hpp"

namespace culvert::load {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using any_endpoint = asio::generic::stream_protocol::endpoint;

error_code last_error() {
    return {errno, boost::system::system_category()};
}

[[noreturn]] void refuse(const config::endpoint& at, const error_code& ec) {
    fail_connection("cannot listen on " + at.text() + ": " + ec.message());
}

any_endpoint resolve(const config::endpoint& at) {
    if (at.is_unix()) return asio::local::stream_protocol::endpoint(at.unix_path);
    asio::io_context context;
    asio::ip::tcp::resolver resolver(context);
    error_code ec;
    const auto found = resolver.resolve(at.host, std::to_string(at.port),
                                        asio::ip::resolver_base::numeric_service, ec);
    if (ec) refuse(at, ec);
    return found.begin()->endpoint();
}

// Whether nobody listens there, so that the path is only a leftover.
bool is_dead(const any_endpoint& path) {
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int done = ::connect(probe, path.data(), static_cast<socklen_t>(path.size()));
    const bool dead = done != 0 && errno == ECONNREFUSED;
    ::close(probe);
    return dead;
}

int bind_to(int fd, const any_endpoint& to) {
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return ::bind(fd, to.data(), static_cast<socklen_t>(to.size()));
}

std::uint16_t port_of(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    // The port stands at the same place in both families.
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

listener listen_at(const config::endpoint& at) {
    const any_endpoint to = resolve(at);
    listener out{::socket(to.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
                 at};
    int bound = bind_to(out.descriptor, to);
    if (bound != 0 && errno == EADDRINUSE && at.is_unix() && is_dead(to)) {
        ::unlink(at.unix_path.c_str());
        bound = bind_to(out.descriptor, to);
    }
    if (bound != 0 || ::listen(out.descriptor, SOMAXCONN) != 0) {
        const error_code ec = last_error();
        ::close(out.descriptor);
        refuse(at, ec);
    }
    if (!at.is_unix()) out.address.port = port_of(out.descriptor);
    return out;
}

}  // namespace culvert::load
