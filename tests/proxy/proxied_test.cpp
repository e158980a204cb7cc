// PROXY headers in front of tunnels, and in front of what goes to a backend.
#include <doctest/doctest.h>

#include "proxy/relay/proxy_protocol.hpp"
#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;
namespace config = culvert::config;
namespace relay = culvert::relay;

namespace {

const std::string line = "PROXY TCP4 198.51.100.7 203.0.113.9 56324 443\r\n";
const relay::proxied told = [] {
    relay::proxy_header_reader reader;
    reader.feed(octets_of_text(line));
    return *reader.about();
}();

// Behind a proxy on this host.
struct proxied_server : one_server {
    explicit proxied_server(
        config::proxy_protocol mode = config::proxy_protocol::on, const char* proxies = "127.0.0.1",
        std::function<void(config::server_settings&)> change = [](auto&) {})
        : one_server([&](auto& settings) {
              settings.proxy_protocol = mode;
              settings.proxies = {config::parse_address_range(proxies).value()};
              settings.limits.handshake = 1s;
              change(settings);
          }) {}

    bool gone(entry& of) {
        return world.until([&] { return of.wire.pump(), of.wire.over() && of.end.done; });
    }
};

// The first bytes that a backend hears.
octets first_at(one_server& f, far_end& far, std::size_t size) {
    peer backend = f.accept_backend(far);
    f.until(far, [&] { return backend.pump(), backend.received.size() >= size; });
    return backend.received;
}

}  // namespace

TEST_SUITE("proxied: in") {
    TEST_CASE("a header of either version, whole or in bytes, is taken off, and names the peer") {
        for (const octets& header :
             {octets_of_text(line), relay::proxy_header_v2(told, "somebody")}) {
            for (const bool in_bytes : {false, true}) {
                CAPTURE(in_bytes);
                proxied_server f;
                auto& entry = f.connect();
                for (std::size_t at = 0; at < header.size();) {
                    const std::size_t size = in_bytes ? 1 : header.size();
                    entry.wire.send(culvert::crypto::bytes_view(header).subspan(at, size));
                    at += size;
                    if (in_bytes) f.world.run_for(1ms);
                }
                far_end far = f.opened(entry, "main");
                peer backend = f.accept_backend(far);
                CHECK(entry.session->facts().peer == "198.51.100.7:56324");
                CHECK(f.until(far, [&] { return entry.session->proven(); }));
            }
        }
    }

    TEST_CASE("LOCAL and UNKNOWN: the connection's own address") {
        for (const octets& header :
             {relay::proxy_header_local(), octets_of_text("PROXY UNKNOWN\r\n")}) {
            proxied_server f;
            auto& entry = f.connect();
            entry.wire.send(header);
            far_end far = f.opened(entry, "main");
            peer backend = f.accept_backend(far);
            CHECK(entry.session->facts().peer.starts_with("127.0.0.1:"));
        }
    }

    TEST_CASE("over WebSocket: the header, then the upgrade") {
        proxied_server f(config::proxy_protocol::on, "127.0.0.1",
                         [](auto& settings) { settings.carrier = config::carrier::websocket; });
        auto& entry = f.connect();
        entry.wire.send(line + "GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
        REQUIRE(f.world.until([&] { return entry.wire.pump(), entry.wire.ended; }));
        CHECK(entry.wire.text().starts_with("HTTP/1.1 404 "));
        auto& bare = f.connect();
        bare.wire.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        REQUIRE(f.gone(bare));
        CHECK(bare.wire.received.empty());  // no 404 to whom has no header: silence
        CHECK(seconds_since(bare.began) >= 0.9);
    }

    TEST_CASE("without a good header: silence until the deadline, as for any stranger") {
        proxied_server f;
        std::vector<one_server::entry*> entries;
        const auto add = [&](const octets& first) {
            entries.push_back(&f.connect());
            entries.back()->wire.send(first);
        };
        add({});
        add(octets_of_text("PROXY TCP4 1.2.3.4 "));
        add(octets_of_text("PROXY TCP4 1.2.3.4 1.2.3.4 1 99999\r\n"));
        add(octets_of_text("PROXY UNKNOWN " + std::string(200, 'x')));
        octets wrong = relay::proxy_header_v2(told, "");
        wrong.back() ^= 1;
        add(wrong);
        add(message1(unix_now(), f.psk_client));  // a client's, without the header
        for (auto* entry : entries) {
            REQUIRE(f.gone(*entry));
            CHECK(entry->wire.received.empty());
            CHECK(entry->wire.ended);
            CHECK(seconds_since(entry->began) >= 0.9);
            CHECK_FALSE(entry->session->proven());
        }
        CHECK(f.backend->accept() < 0);
        CHECK(f.context->here->unproven->size() == 0);
    }

    TEST_CASE("whoever is no listed proxy: without a header he is served, unless it is required") {
        {
            proxied_server f(config::proxy_protocol::on, "10.0.0.1");
            auto& entry = f.connect();
            far_end far = f.opened(entry, "main");
            peer backend = f.accept_backend(far);
            CHECK(entry.session->facts().peer.starts_with("127.0.0.1:"));
        }
        for (const bool with_header : {false, true}) {
            CAPTURE(with_header);
            proxied_server f(config::proxy_protocol::required, "10.0.0.1");
            auto& entry = f.connect();
            if (with_header) entry.wire.send(line);
            entry.wire.send(message1(unix_now(), f.psk_client));
            REQUIRE(f.gone(entry));
            CHECK(entry.wire.received.empty());
        }
        // Nobody's headers are believed but a proxy's.
        proxied_server f(config::proxy_protocol::on, "10.0.0.1");
        auto& entry = f.connect();
        entry.wire.send(line);
        entry.wire.send(message1(unix_now(), f.psk_client));
        REQUIRE(f.gone(entry));
        CHECK(entry.wire.received.empty());
    }

    TEST_CASE("strangers behind the proxy have the cap of their own address") {
        proxied_server f(config::proxy_protocol::on, "127.0.0.1", [](auto& settings) {
            settings.unproven_per_address = 1;
            settings.limits.handshake = 60s;
        });
        auto& oldest = f.connect();
        auto& another = f.connect();
        auto& second = f.connect();
        auto& silent = f.connect();
        auto& as_silent = f.connect();
        oldest.wire.send(line);
        another.wire.send("PROXY TCP4 198.51.100.8 203.0.113.9 1 443\r\n");
        f.world.run_for(20ms);
        second.wire.send(line);
        f.world.run_for(20ms);
        CHECK(f.context->here->unproven->size() == 5);
        CHECK(f.context->here->unproven->sweep(culvert::carrier::clock::now() + 3s) == 1);
        REQUIRE(f.world.until([&] { return oldest.wire.pump(), oldest.wire.over(); }, 1s));
        for (auto* entry : {&another, &second, &silent, &as_silent}) {
            entry->wire.pump();
            CHECK_FALSE(entry->wire.over());
        }
    }
}

TEST_SUITE("proxied: out") {
    TEST_CASE("the backend hears who the client is, before a byte of the stream") {
        for (const auto version : {config::proxy_header::v1, config::proxy_header::v2}) {
            one_server f([&](auto& settings) { settings.services[0].send_proxy = version; });
            auto& entry = f.connect();
            sockaddr_in ours{};
            socklen_t size = sizeof ours;
            ::getsockname(entry.wire.fd(), reinterpret_cast<sockaddr*>(&ours), &size);
            far_end far = f.opened(entry, "main");
            far.send(record_type::data, octets_of_text("stream"));
            octets heard = first_at(f, far, 28);
            relay::proxy_header_reader reader;
            const std::size_t taken = reader.feed(heard);
            REQUIRE(reader.about().has_value());
            CHECK(culvert::carrier::to_text(reader.about()->from) ==
                  "127.0.0.1:" + std::to_string(ntohs(ours.sin_port)));
            CHECK(culvert::carrier::to_text(reader.about()->to).starts_with("127.0.0.1:"));
            const std::string behind(heard.begin() + static_cast<std::ptrdiff_t>(taken),
                                     heard.end());
            CHECK(std::string("stream").starts_with(behind));
            // It is no part of the stream.
            CHECK(entry.session->moved().from_tunnel <= 6);
        }
    }

    TEST_CASE("what the proxy in front says goes on to the backend, with the client's name") {
        one_server f([&](auto& settings) {
            settings = static_server(settings.services[0].targets[0].port);
            settings.services[0].send_proxy = config::proxy_header::v2;
            settings.proxy_protocol = config::proxy_protocol::required;
            settings.proxies = {config::parse_address_range("127.0.0.0/8").value()};
        });
        auto& entry = f.connect();
        entry.wire.send(line);
        far_end far = f.shake_hands(
            entry, culvert::protocol::client_keys::with_identity(
                       culvert::protocol::key_pair_of(secret_of(2)), pair_of(3).shared, nullptr));
        far.send(record_type::open, octets_of_text("main"));
        const octets expected = relay::proxy_header_v2(told, "laptop");
        CHECK(first_at(f, far, expected.size()) == expected);
    }
}
