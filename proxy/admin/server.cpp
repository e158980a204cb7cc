#include "proxy/admin/server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <utility>

#include "proxy/admin/answers.hpp"
#include "proxy/admin/host.hpp"

namespace culvert::admin {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using carrier::awaitable;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

// For a whole request, the wait for it included.
constexpr std::chrono::seconds first_request{10};
constexpr std::chrono::seconds further_request{30};
constexpr std::chrono::seconds whole_answer{10};

constexpr std::uint32_t longest_header = 8 * 1024;
constexpr std::size_t most_buffered = 16 * 1024;

using request_parser = http::request_parser<http::empty_body>;
using response = http::response<http::string_body>;

response make_response(answer from) {
    response made(static_cast<http::status>(from.status), 11);
    made.set(http::field::content_type, {from.type.data(), from.type.size()});
    made.set(http::field::cache_control, "no-store");
    made.set("Content-Security-Policy",
             "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
             "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    made.set("Cross-Origin-Resource-Policy", "same-origin");
    made.set("Referrer-Policy", "no-referrer");
    made.set("X-Content-Type-Options", "nosniff");
    made.body() = std::move(from.body);
    made.prepare_payload();
    return made;
}

response refusal(unsigned status, std::string text) {
    return make_response({.status = status, .body = std::move(text)});
}

bool has_body(const request_parser& request) {
    return request.chunked() || request.content_length().value_or(0) > 0;
}

// The error is about what the other side has sent, not about the connection.
bool is_bad_request(const beast::error_code& ec) {
    static const auto& of_http = make_error_code(http::error::bad_method).category();
    return ec.category() == of_http && ec != http::error::end_of_stream &&
           ec != http::error::partial_message;
}

}  // namespace

struct server::connection {
    explicit connection(const carrier::executor& ex) : stream(ex), buffer(most_buffered) {}

    awaitable<bool> send(response& what, bool without_body);

    beast::basic_stream<asio::generic::stream_protocol, carrier::executor> stream;
    beast::flat_buffer buffer;
    place at;  // in the server's list, while listed
    bool listed = true;
};

// False when it did not work out, or was the last answer on this connection.
awaitable<bool> server::connection::send(response& what, bool without_body) {
    stream.expires_after(whole_answer);
    http::response_serializer<http::string_body> serializer(what);
    beast::error_code failed;
    if (without_body) {
        auto [ec, size] = co_await http::async_write_header(stream, serializer, no_throw);
        failed = ec;
    } else {
        auto [ec, size] = co_await http::async_write(stream, serializer, no_throw);
        failed = ec;
    }
    co_return !failed && what.keep_alive();
}

server::server(const carrier::executor& ex, http_rules rules, std::function<observe::status()> now)
    : ex_(ex), rules_(std::move(rules)), now_(std::move(now)) {}

server::~server() = default;

void server::adopt(int fd) {
    int family = AF_INET;
    socklen_t size = sizeof family;
    ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
    auto made = std::make_shared<connection>(ex_);
    beast::error_code failed;
    made->stream.socket().assign(asio::generic::stream_protocol(family, 0), fd, failed);
    if (failed) {
        ::close(fd);
        return;
    }
    if (connections_.size() >= most_connections) forget(*connections_.front());
    made->at = connections_.insert(connections_.end(), made);
    asio::co_spawn(ex_, serve(made), [self = shared_from_this(), made](const std::exception_ptr&) {
        self->forget(*made);
    });
}

void server::forget(connection& gone) {
    gone.stream.close();
    if (std::exchange(gone.listed, false)) connections_.erase(gone.at);
}

void server::stop() {
    for (const auto& one : connections_) one->stream.close();
}

awaitable<void> server::serve(std::shared_ptr<connection> with) {
    with->stream.expires_after(first_request);
    bool more = true;
    while (more) {
        const bool again = co_await serve_one(*with);
        more = again;
        with->stream.expires_after(further_request);
    }
    beast::error_code ignored;
    with->stream.socket().shutdown(asio::socket_base::shutdown_send, ignored);
    with->stream.close();
}

// False when the connection has come to its end.
awaitable<bool> server::serve_one(connection& with) {
    request_parser parser;
    parser.header_limit(longest_header);
    auto [ec, size] = co_await http::async_read_header(with.stream, with.buffer, parser, no_throw);
    if (!with.listed) co_return false;
    connections_.splice(connections_.end(), connections_, with.at);
    if (ec && !is_bad_request(ec)) co_return false;
    const auto& request = parser.get();
    const auto method = request.method();
    const auto host = request.find(http::field::host);
    const bool named = host != request.end();
    const std::string_view target(request.target().data(), request.target().size());

    response reply;
    if (ec == http::error::header_limit || ec == http::error::buffer_overflow)
        reply = refusal(431, "the header is too long\n");
    else if (ec || (!named && request.version() >= 11))
        reply = refusal(400, "this is no request of HTTP/1.1\n");
    else if (named && !may_ask({host->value().data(), host->value().size()}))
        reply =
            refusal(403, "this host name is not known here: ask for an address, or localhost\n");
    else if (method != http::verb::get && method != http::verb::head)
        reply = refusal(405, "GET and HEAD only\n");
    else if (has_body(parser))
        reply = refusal(400, "a request without a body, please\n");
    else
        reply = make_response(answer_to(target, now_));
    if (reply.result() == http::status::method_not_allowed)
        reply.set(http::field::allow, "GET, HEAD");
    const bool understood = reply.result() != http::status::bad_request && !ec;
    reply.keep_alive(understood && !has_body(parser) && !winding_up_ && request.keep_alive());
    const bool more = co_await with.send(reply, method == http::verb::head);
    co_return more;
}

bool server::may_ask(std::string_view host) const noexcept {
    return !rules_.checks_host || is_host_of_loopback(host, rules_.own_host);
}

}  // namespace culvert::admin
