// Tunnels in a test's loop, with sockets in the test's hands around them.
#pragma once

#include "proxy/carrier/websocket.hpp"
#include "proxy/relay/tunnel.hpp"
#include "tests/proxy/far_end.hpp"
#include "tests/proxy/gate_carrier.hpp"
#include "tests/proxy/loop.hpp"

namespace culvert::tests {

using relay::end_reason;

enum class by { tcp, websocket };

struct tunnel_options {
    by carrier = by::tcp;
    protocol::epoch_limits epochs{};
    bool small_buffers = false;     // of the kernel, at the plaintext sides
    bool unix_application = false;  // instead of TCP
    gate* door = nullptr;           // that the tunnel's writes have to pass
    std::uint64_t rate = 0;         // bytes/s in each direction, of buckets of the test
    relay::token_bucket* to_tunnel = nullptr;
    relay::token_bucket* from_tunnel = nullptr;
};

inline std::unique_ptr<carrier::carrier> carry(by kind, carrier::stream_socket socket,
                                               carrier::websocket::role role) {
    if (kind == by::tcp) return carrier::over_tcp(std::move(socket));
    return carrier::over_websocket(std::move(socket), role, {});
}

inline config::session_limits default_limits() {
    return {};
}

// One end that is a tunnel.
class near_end {
  public:
    near_end(loop& world, int plain_fd, std::unique_ptr<carrier::carrier> wire,
             session_end_state state, const config::session_limits& limits,
             relay::buffer_pool& pool, ending& end, std::string leftover = {},
             std::unique_ptr<relay::throttle> rate = nullptr) {
        carrier::stream_socket plain = world.adopt(plain_fd);
        carrier::arm_reset(plain, true);
        auto writer =
            std::make_unique<relay::record_writer>(std::move(wire), std::move(state.sealer));
        relay::established far{std::move(writer), std::move(state.opener), std::move(leftover)};
        tunnel_ = std::make_shared<relay::tunnel>(std::move(plain), std::move(far), limits, pool,
                                                  nullptr, nullptr, std::move(rate));
        world.spawn(tunnel_->run(), tunnel_, end);
    }
    relay::tunnel* operator->() const noexcept { return tunnel_.get(); }

  private:
    std::shared_ptr<relay::tunnel> tunnel_;
};

// The server's end of a session; the test is the application and the other end.
struct one_tunnel {
    explicit one_tunnel(const config::session_limits& with = default_limits(),
                        const tunnel_options& options = {}, const std::string& leftover = {})
        : limits(with) {
        opened_session session(options.epochs);
        const auto plain = options.unix_application ? unix_pair() : tcp_pair();
        const auto wire = tcp_pair();
        if (options.small_buffers)
            for (const int fd : {plain.first, plain.second, wire.first, wire.second})
                shrink_buffers(fd);
        application = peer(plain.first);
        far.emplace(wire.first, std::move(session.client));
        auto socket = world.adopt(wire.second);
        auto carrier = options.door != nullptr
                           ? std::make_unique<gate_carrier>(std::move(socket), *options.door)
                           : carrier::over_tcp(std::move(socket));
        std::unique_ptr<relay::throttle> rate;
        if (options.rate > 0)
            rate = std::make_unique<relay::throttle>(world.executor(), *options.to_tunnel,
                                                     *options.from_tunnel, options.rate);
        near.emplace(world, plain.second, std::move(carrier), std::move(session.server), limits,
                     pool, end, leftover, std::move(rate));
    }

    void pump() {
        application.pump();
        far->pump();
    }
    template <class Done>
    bool until(Done done, std::chrono::milliseconds limit = 20s) {
        const auto pumped = [&] {
            pump();
            return done();
        };
        return world.until(pumped, limit);
    }

    relay::buffer_pool pool;
    const config::session_limits limits;
    ending end;
    loop world;
    peer application;
    std::optional<far_end> far;
    std::optional<near_end> near;
};

// Two tunnels back to back.
struct two_tunnels {
    explicit two_tunnels(const tunnel_options& options = {},
                         const config::session_limits& with = default_limits())
        : limits(with) {
        using role = carrier::websocket::role;
        opened_session session(options.epochs);
        const auto left = tcp_pair();
        const auto wire = tcp_pair();
        const auto right = tcp_pair();
        if (options.small_buffers)
            for (const int fd :
                 {left.first, left.second, right.first, right.second, wire.first, wire.second})
                shrink_buffers(fd);
        application = peer(left.first);
        service = peer(right.second);
        client.emplace(world, left.second,
                       carry(options.carrier, world.adopt(wire.first), role::client),
                       std::move(session.client), limits, pool, client_end);
        server.emplace(world, right.first,
                       carry(options.carrier, world.adopt(wire.second), role::server),
                       std::move(session.server), limits, pool, server_end);
        client_wire = wire.first;
    }

    void pump() {
        application.pump();
        service.pump();
    }
    template <class Done>
    bool until(Done done, std::chrono::milliseconds limit = 20s) {
        const auto pumped = [&] {
            pump();
            return done();
        };
        return world.until(pumped, limit);
    }
    [[nodiscard]] bool both_done() const { return client_end.done && server_end.done; }

    relay::buffer_pool pool;
    const config::session_limits limits;
    ending client_end;
    ending server_end;
    loop world;
    peer application;
    peer service;
    int client_wire = -1;  // to see or disturb what the client's tunnel owns
    std::optional<near_end> client;
    std::optional<near_end> server;
};

}  // namespace culvert::tests
