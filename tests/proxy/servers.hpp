// Server sessions in a test's loop, and clients in the test's hands.
#pragma once

#include <deque>

#include "proxy/relay/server_session.hpp"
#include "proxy/relay/wall_clock.hpp"
#include "tests/proxy/far_end.hpp"
#include "tests/proxy/loop.hpp"

namespace culvert::tests {

using relay::end_reason;
using relay::unix_now;

inline config::endpoint local(std::uint16_t port) {
    return {"127.0.0.1", port, {}};
}

inline config::service service_at(const std::string& name, std::uint16_t port) {
    config::service made;
    made.name = name;
    made.targets.push_back(local(port));
    return made;
}

// With psk secret_of(1), and the services "main" at `backend` and "down" where nobody listens.
inline config::server_settings psk_server(std::uint16_t backend) {
    config::server_settings settings;
    settings.name = "test";
    settings.keys.psk = secret_of(1);
    settings.services.push_back(service_at("main", backend));
    settings.services.push_back(service_at("down", free_port()));
    return settings;
}

// Clients with the key pair_of(2) are "laptop".
inline config::server_settings static_server(std::uint16_t backend) {
    config::server_settings settings = psk_server(backend);
    settings.keys.psk.reset();
    settings.keys.identity = secret_of(3);
    settings.clients.push_back({"laptop", pair_of(2).shared});
    return settings;
}

class servers {
  public:
    struct entry {
        peer wire;  // the client's socket
        std::shared_ptr<relay::session> session;
        ending end;
        carrier::time_point began = carrier::clock::now();
    };

    explicit servers(config::server_settings settings,
                     const relay::server_context* before = nullptr)
        : context(std::make_shared<const relay::server_context>(std::move(settings), replays,
                                                                before)) {}
    servers(const servers&) = delete;
    servers& operator=(const servers&) = delete;
    ~servers() {
        for (entry& e : entries_) e.session.reset();
    }

    // A new connection, accepted.
    entry& connect() {
        const auto [ours, theirs] = tcp_pair();
        return adopt(theirs, peer(ours));
    }
    entry& adopt(int accepted, peer wire = {}) {
        entry& made = entries_.emplace_back();
        made.wire = std::move(wire);
        made.session =
            relay::make_server_session(context, world.adopt(accepted), {world.executor(), pool});
        world.spawn(made.session->run(), made.session, made.end);
        return made;
    }

    // How many sessions, of those that are gone altogether, the counters have as failed for
    // `reason`.
    [[nodiscard]] std::uint64_t failed(const std::string& reason) const {
        for (const auto& of : context->counters->read().handshakes_failed)
            if (of.name == reason) return of.count;
        return 0;
    }

    // The client's part of the handshake; the entry's socket goes to the far end.
    far_end shake_hands(entry& with, const protocol::client_keys& keys) {
        protocol::client_handshake handshake(keys, unix_now(), 0);
        with.wire.send(handshake.message1());
        using state = protocol::client_handshake::state;
        octets rest;
        world.until([&] {
            with.wire.pump();
            const std::size_t used = handshake.feed(with.wire.received);
            rest.assign(with.wire.received.begin() + static_cast<std::ptrdiff_t>(used),
                        with.wire.received.end());
            with.wire.received.clear();
            return handshake.current() == state::open || handshake.current() == state::failed ||
                   with.wire.over();
        });
        if (handshake.current() != state::open) throw std::runtime_error("no handshake");
        const auto secrets = std::move(handshake).split();
        const auto now = std::chrono::steady_clock::now();
        session_end_state ends{protocol::sealer(secrets.c2s, protocol::role::client, now),
                               protocol::opener(secrets.s2c, protocol::role::client)};
        ends.opener.open_sent();
        far_end far(with.wire.release(), std::move(ends));
        far.wire.received = rest;
        return far;
    }
    far_end shake_hands(entry& with) { return shake_hands(with, psk_client); }

    protocol::replay_cache replays;
    const std::shared_ptr<const relay::server_context> context;
    relay::buffer_pool pool;
    const protocol::client_keys psk_client = protocol::client_keys::with_psk(secret_of(1), {});

  private:
    std::deque<entry> entries_;  // outlive the loop: sessions end in them

  public:
    loop world;
};

inline double seconds_since(carrier::time_point when) {
    return std::chrono::duration<double>(carrier::clock::now() - when).count();
}

inline octets message1(protocol::unix_seconds time, const protocol::client_keys& keys) {
    protocol::client_handshake handshake(keys, time, 0);
    return {handshake.message1().begin(), handshake.message1().end()};
}

struct one_server : servers {
    one_server() : one_server([](auto&) {}) {}
    template <class Change>
    explicit one_server(Change change) : one_server(std::make_unique<listener>(), change) {}

    // A client whose record 0 was a PAD, or an OPEN.
    far_end waiting(entry& with) {
        far_end far = shake_hands(with);
        far.send(protocol::record_type::pad);
        far.pump();
        world.until([&] { return with.session->proven() || with.end.done; });
        return far;
    }
    far_end opened(entry& with, const std::string& service) {
        far_end far = shake_hands(with);
        far.send(protocol::record_type::open, octets_of_text(service));
        return far;
    }
    template <class Done>
    bool until(far_end& far, Done done, std::chrono::milliseconds limit = 20s) {
        const auto pumped = [&] {
            far.pump();
            return done();
        };
        return world.until(pumped, limit);
    }
    bool over(far_end& far) {
        return until(far, [&] { return far.wire.over(); });
    }
    peer accept_backend(far_end& far) {
        int fd = -1;
        until(far, [&] { return (fd = backend->accept()) >= 0; });
        return peer(fd);
    }

    std::unique_ptr<listener> backend;

  private:
    template <class Change>
    one_server(std::unique_ptr<listener> at, Change change)
        : servers(changed(psk_server(at->port()), change)), backend(std::move(at)) {}
    template <class Change>
    static config::server_settings changed(config::server_settings settings, Change change) {
        change(settings);
        return settings;
    }
};

}  // namespace culvert::tests
