// The HTTP part of a WebSocket connection: who gets a 101, who a 404, who nothing.
#include "proxy/carrier/http_upgrade.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/asio/error.hpp>

#include "tests/proxy/loop.hpp"
#include "tests/proxy/peer.hpp"

using namespace culvert::tests;
using culvert::carrier::awaitable;
using culvert::carrier::stream_socket;
namespace ws = culvert::carrier::websocket;

namespace {

// RFC 6455 section 1.3.
constexpr const char* rfc_key = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr const char* rfc_accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

std::string good_request() {
    return "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\n"
           "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
           "Sec-WebSocket-Version: 13\r\n\r\n";
}

// The good request with the first `what` in it replaced.
std::string request_with(const std::string& what, const std::string& by) {
    std::string text = good_request();
    return text.replace(text.find(what), what.size(), by);
}
std::string request_with_field(const std::string& line) {
    return request_with("\r\n\r\n", "\r\n" + line + "\r\n\r\n");
}

struct half {
    stream_socket socket;
    ws::upgrade_result result;
    bool done = false;
};

awaitable<void> accept_in(half& h) {
    h.result = co_await ws::accept_upgrade(h.socket, "/chat");
    h.done = true;
}

awaitable<void> await_in(half& h) {
    h.result = co_await ws::await_upgrade(h.socket, "/chat");
    h.done = true;
}

awaitable<void> request_in(half& h) {
    h.result = co_await ws::request_upgrade(h.socket, "host.example:8080", "/chat");
    h.done = true;
}

// One end runs the upgrade, the test has the other.
struct exchange {
    explicit exchange(awaitable<void> (*what)(half&)) : exchange(what, unix_pair()) {}
    exchange(awaitable<void> (*what)(half&), std::pair<int, int> fds)
        : far(fds.first), near{world.adopt(fds.second), {}} {
        world.spawn(what(near), end);
    }
    bool until_done() {
        const bool done = world.until([&] { return far.pump(), near.done || end.done; });
        far.pump();
        return done;
    }

    ending end;
    loop world;
    peer far;
    half near;
};

struct answer {
    ws::upgrade_result result;
    std::string text;
    bool ended = false;
    [[nodiscard]] bool is_404() const {
        return !result.ok() && result.answered && ended && text.starts_with("HTTP/1.1 404 ") &&
               text.find("\r\nConnection: close\r\n") != std::string::npos;
    }
    [[nodiscard]] bool is_101() const {
        return result.ok() && text.starts_with("HTTP/1.1 101 ") && !ended;
    }
    [[nodiscard]] bool is_nothing() const {
        return !result.ok() && !result.answered && text.empty();
    }
};

answer ask(const std::string& request) {
    exchange x(accept_in);
    x.far.send(request);
    x.far.end();
    CHECK(x.until_done());
    return {x.near.result, x.far.text(), x.far.ended};
}

std::string field_of(const std::string& text, const std::string& name) {
    const auto at = text.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto from = at + name.size() + 4;
    return text.substr(from, text.find("\r\n", from) - from);
}

// What the server of the test says to the request; {accept} stands for the right value.
ws::upgrade_result answer_with(std::string text) {
    exchange x(request_in);
    CHECK(x.world.until([&] { return x.far.pump(), x.far.text().ends_with("\r\n\r\n"); }));
    const std::string key = field_of(x.far.text(), "Sec-WebSocket-Key");
    CHECK(key.size() == 24);
    if (const auto at = text.find("{accept}"); at != std::string::npos) {
        // The server side is tested against the RFC's value, and can tell this one.
        std::string request = good_request();
        request.replace(request.find(rfc_key), key.size(), key);
        text.replace(at, 8, field_of(ask(request).text, "Sec-WebSocket-Accept"));
    }
    x.far.send(text);
    x.far.end();
    CHECK(x.until_done());
    return x.near.result;
}

constexpr const char* good_answer =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: {accept}\r\n\r\n";

std::string good_answer_with(const std::string& what, const std::string& by) {
    std::string text = good_answer;
    return text.replace(text.find(what), what.size(), by);
}

}  // namespace

TEST_SUITE("http upgrade: server") {
    TEST_CASE("the example of RFC 6455 section 1.3") {
        const answer got = ask(good_request());
        CHECK(got.is_101());
        CHECK(field_of(got.text, "Sec-WebSocket-Accept") == rfc_accept);
        CHECK(field_of(got.text, "Upgrade") == "websocket");
        CHECK(field_of(got.text, "Connection") == "Upgrade");
        CHECK(got.text.ends_with("\r\n\r\n"));
    }

    TEST_CASE("forms of a good request that proxies and browsers use") {
        CHECK(ask(request_with("Upgrade: websocket", "upgrade: WebSocket")).is_101());
        CHECK(ask(request_with("Connection: Upgrade", "Connection: keep-alive, upgrade")).is_101());
        CHECK(ask(request_with_field("X-Forwarded-For: 192.0.2.1")).is_101());
        CHECK(ask(request_with_field("Origin: https://example.com")).is_101());
    }

    TEST_CASE("extensions and subprotocols are not taken up") {
        const answer got = ask(request_with_field(
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
            "Sec-WebSocket-Protocol: chat"));
        CHECK(got.is_101());
        CHECK(field_of(got.text, "Sec-WebSocket-Extensions").empty());
        CHECK(field_of(got.text, "Sec-WebSocket-Protocol").empty());
    }

    TEST_CASE("bytes behind the header are kept") {
        const answer got = ask(good_request() + "first frame");
        CHECK(got.is_101());
        CHECK(got.result.leftover == "first frame");
    }

    TEST_CASE("what is no upgrade to the path gets a 404 and the end") {
        const std::string requests[] = {
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "HEAD /chat HTTP/1.1\r\nHost: x\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
            request_with("/chat", "/chat/"),
            request_with("/chat", "/CHAT"),
            request_with("/chat", "/chat?x"),
            request_with("/chat", "http://server.example.com/chat"),
            request_with("GET", "POST"),
            request_with("HTTP/1.1", "HTTP/1.0"),
            request_with("Upgrade: websocket\r\n", ""),
            request_with("Upgrade: websocket", "Upgrade: h2c"),
            request_with("Upgrade: websocket", "Upgrade: websocket\x8f"),
            request_with("Connection: Upgrade", "Connection: close"),
            request_with("Connection: Upgrade\r\n", ""),
            request_with("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8"),
            request_with("Sec-WebSocket-Version: 13", "X: y"),
            request_with("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""),
            request_with(rfc_key, "short=="),
            request_with("Host: server.example.com\r\n", ""),
            request_with_field("Host: another.example.com"),
            request_with_field("Content-Length: 5"),
            request_with_field("Transfer-Encoding: chunked"),
            request_with_field("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
            request_with_field("Sec-WebSocket-Version: 8"),
        };
        for (const std::string& request : requests) {
            CAPTURE(request);
            const answer got = ask(request);
            CHECK(got.is_404());
        }
    }

    TEST_CASE("a 404 to HEAD has no body; to others it has the length that it says") {
        const answer head = ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK(head.text.ends_with("\r\n\r\n"));
        const answer get = ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK(get.text.ends_with("\r\n\r\nNot Found\n"));
        CHECK(field_of(get.text, "Content-Length") == "10");
    }

    TEST_CASE("shapes that two parsers may read differently get no 101") {
        std::string only_cr = good_request();
        std::erase(only_cr, '\n');
        const std::string requests[] = {
            only_cr,
            request_with("Connection: Upgrade", "Connection: Upgrade(x"),
            request_with("Upgrade: websocket", "Upgrade : websocket"),
            request_with("Host: server", "Host : server"),
            request_with_field("Transfer-Encoding : chunked"),
            request_with_field("Content-Length: 5\r\nContent-Length: 6"),
            request_with_field("Content-Length: +5"),
            request_with("GET /chat", "GET  /chat"),
            request_with("GET /chat", "GET\t/chat"),
            request_with("HTTP/1.1", "HTTP/1.1 "),
            request_with_field("X: a\rb"),
            request_with_field("X: a" + std::string(1, '\0') + "b"),
            request_with_field(": empty name"),
            request_with_field("no colon"),
        };
        for (const std::string& request : requests) {
            CAPTURE(request);
            CHECK(ask(request).text.find(" 101 ") == std::string::npos);
        }
    }

    TEST_CASE("what is not HTTP gets nothing") {
        for (const std::string& text :
             {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
              std::string("SSH-2.0-OpenSSH_9.2\r\n"),
              std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("GET /chat\r\n\r\n"),
              std::string(300, '\0'), std::string()})
            CHECK(ask(text).is_nothing());
    }

    TEST_CASE("a header over 8 KiB ends without an answer") {
        CHECK(ask(request_with_field("X: " + std::string(9'000, 'x'))).is_nothing());
        CHECK(ask(request_with("/chat", "/" + std::string(9'000, 'x'))).is_nothing());
        std::string many;
        for (int i = 0; i < 2'000; ++i) many += "X: y\r\n";
        CHECK(ask("GET /chat HTTP/1.1\r\n" + many + "\r\n").is_nothing());
        CHECK(ask(request_with("\r\n\r\n", "\r\n" + many + "\r\n")).is_nothing());
        CHECK(ask(request_with_field("X: " + std::string(7'000, 'x'))).is_101());
    }

    TEST_CASE("a request may come byte by byte") {
        exchange x(accept_in, tcp_pair());
        for (const char c : good_request()) {
            x.far.send(std::string(1, c));
            x.world.run_for(0ms);
        }
        CHECK(x.until_done());
        CHECK(x.near.result.ok());
        CHECK(x.far.text().starts_with("HTTP/1.1 101 "));
    }

    TEST_CASE("a request that never ends goes when its socket is closed") {
        exchange x(accept_in);
        x.far.send("GET /chat HTTP/1.1\r\nX: ");
        x.world.run_for(20ms);
        CHECK_FALSE(x.near.done);
        culvert::carrier::close_quietly(x.near.socket);
        CHECK(x.until_done());
        CHECK_FALSE(x.near.result.ok());
        CHECK(x.far.received.empty());
    }
}

TEST_SUITE("http upgrade: a server that has another answer") {
    // What is refused once this has come, without its end.
    ws::upgrade_result refused(const std::string& text) {
        exchange x(await_in);
        x.far.send(text);
        CHECK(x.until_done());
        CHECK(x.far.received.empty());
        CHECK(!x.near.result.ok());
        return x.near.result;
    }

    TEST_CASE("an upgrade is one") {
        exchange x(await_in);
        x.far.send(good_request() + "first frame");
        CHECK(x.until_done());
        CHECK(x.near.result.ok());
        CHECK(x.near.result.leftover == "first frame");
        CHECK(x.near.result.received.empty());
    }

    TEST_CASE("others are refused with the first byte that shows it") {
        for (const char* const text : {"P", "GEX", "GET /cha?", "GET /chat?", "GET /chat HTTP/1.0",
                                       "\x16\x03\x01", "GET  /chat", "\r\nGET /chat"}) {
            CAPTURE(text);
            const auto got = refused(text);
            CHECK(got.received == text);
            CHECK_FALSE(got.http);
        }
    }

    TEST_CASE("what may still become one is waited for") {
        for (const std::string text : {"G", "GET /chat", "GET /chat HTTP/1.1\r\nX: "}) {
            CAPTURE(text);
            exchange x(await_in);
            x.far.send(text);
            x.world.run_for(20ms);
            CHECK_FALSE(x.near.done);
            x.far.end();
            CHECK(x.until_done());
            CHECK(x.near.result.ec == boost::asio::error::eof);
            CHECK(x.near.result.received == text);
        }
    }

    TEST_CASE("a whole header is known as such, and kept with what is behind it") {
        const std::string get = request_with("Version: 13", "Version: 8") + "behind";
        const auto got = refused(get);
        CHECK(got.http);
        CHECK_FALSE(got.head);
        CHECK(got.received == get);
        CHECK(refused("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").head);
        const std::string large = request_with_field("X: " + std::string(9'000, 'x'));
        CHECK(large.starts_with(refused(large).received));
    }
}

TEST_SUITE("http upgrade: client") {
    TEST_CASE("the request") {
        exchange x(request_in);
        CHECK(x.world.until([&] { return x.far.pump(), x.far.text().ends_with("\r\n\r\n"); }));
        const std::string text = x.far.text();
        CHECK(text.starts_with("GET /chat HTTP/1.1\r\n"));
        CHECK(field_of(text, "Host") == "host.example:8080");
        CHECK(field_of(text, "Upgrade") == "websocket");
        CHECK(field_of(text, "Connection") == "Upgrade");
        CHECK(field_of(text, "Sec-WebSocket-Version") == "13");
        CHECK(field_of(text, "Sec-WebSocket-Extensions").empty());
    }

    TEST_CASE("each request has a key of its own") {
        std::vector<std::string> keys;
        for (int i = 0; i < 8; ++i) {
            exchange x(request_in);
            CHECK(x.world.until([&] { return x.far.pump(), x.far.text().ends_with("\r\n\r\n"); }));
            keys.push_back(field_of(x.far.text(), "Sec-WebSocket-Key"));
        }
        std::sort(keys.begin(), keys.end());
        CHECK(std::unique(keys.begin(), keys.end()) == keys.end());
    }

    TEST_CASE("a good answer, and the frames behind it") {
        const auto result = answer_with(good_answer + std::string("frames"));
        CHECK(result.ok());
        CHECK(result.status == 101);
        CHECK(result.leftover == "frames");
    }

    TEST_CASE("any other answer is refused, and its status is known") {
        const auto refused = [](const std::string& text, unsigned status) {
            const auto result = answer_with(text);
            CHECK_FALSE(result.ok());
            CHECK(result.status == status);
        };
        refused(good_answer_with("{accept}", rfc_accept), 101);
        refused(good_answer_with("Sec-WebSocket-Accept: {accept}\r\n", ""), 101);
        refused(good_answer_with("\r\n\r\n", "\r\nSec-WebSocket-Accept: x\r\n\r\n"), 101);
        refused(good_answer_with("HTTP/1.1", "HTTP/1.0"), 101);
        refused(good_answer_with("Upgrade: websocket\r\n", ""), 101);
        refused(good_answer_with("Upgrade: websocket", "Upgrade: h2c"), 101);
        refused(good_answer_with("Connection: Upgrade\r\n", ""), 101);
        refused(good_answer_with("\r\n\r\n", "\r\nSec-WebSocket-Extensions: x\r\n\r\n"), 101);
        refused(good_answer_with("\r\n\r\n", "\r\nSec-WebSocket-Protocol: x\r\n\r\n"), 101);
        refused(good_answer_with("101 Switching Protocols", "200 OK"), 200);
        refused("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404);
        refused("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", 302);
        refused("SSH-2.0-OpenSSH_9.2\r\n", 0);
        refused("", 0);
        std::string many;
        for (int i = 0; i < 2'000; ++i) many += "X: y\r\n";
        refused("HTTP/1.1 200 OK\r\n" + many + "\r\n", 0);
        refused("HTTP/1.1 101 Switching Protocols\r\nX: " + std::string(9'000, 'x'), 0);
    }
}
