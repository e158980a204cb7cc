// A pool of sessions and a server, in one loop.
#pragma once

#include <algorithm>
#include <optional>

#include "proxy/relay/client_session.hpp"
#include "tests/proxy/servers.hpp"

namespace culvert::tests {

inline config::client_settings client_of(std::uint16_t server) {
    config::client_settings settings;
    settings.name = "test";
    settings.connect = {{local(server), config::carrier::tcp, "/t"}};
    settings.keys.psk = secret_of(1);
    settings.limits.connect = 1s;
    settings.limits.handshake = 1s;
    return settings;
}

// A TCP reset for the peer of this socket; whoever owns it finds it dead.
inline void cut(int fd) {
    sockaddr nobody{};
    nobody.sa_family = AF_UNSPEC;
    ::connect(fd, &nobody, sizeof nobody);
}

struct pooled {
    // What happens to a connection that comes to the server.
    enum class door : std::uint8_t { serves, resets, ignores };

    explicit pooled(std::size_t size) : pooled(size, [](auto&, auto&) {}) {}
    template <class Change>
    pooled(std::size_t size, Change change) {
        auto ours = client_of(entry.port());
        auto theirs = psk_server(backend.port());
        theirs.path = ours.connect.front().path;
        change(ours, theirs);
        server.emplace(std::move(theirs));
        context = std::make_shared<const relay::client_context>(std::move(ours));
        pool = std::make_shared<relay::session_pool>(
            context, size, relay::thread_context{server->world.executor(), server->pool, nullptr});
        pool->start();
    }
    pooled(const pooled&) = delete;
    pooled& operator=(const pooled&) = delete;
    ~pooled() {
        for (application& one : applications) one.session.reset();
    }

    template <class Done>
    bool until(Done done, std::chrono::milliseconds limit = 20s) {
        const auto served = [&] {
            serve();
            return done();
        };
        return server->world.until(served, limit);
    }
    void run_for(std::chrono::milliseconds time) {
        until([] { return false; }, time);
    }
    // So many are ready, and the server knows it.
    bool filled(std::size_t size) {
        return until([&] {
            return pool->ready() == size &&
                   std::all_of(sessions.begin(), sessions.end(),
                               [](const auto* s) { return s->session->proven() || s->end.done; });
        });
    }

    // A new application.
    struct application {
        peer socket;
        ending end;
        std::shared_ptr<relay::session> session;
    };
    application& connect() {
        application& made = applications.emplace_back();
        const auto [ours, theirs] = tcp_pair();
        made.socket = peer(ours);
        auto plain = server->world.adopt(theirs);
        carrier::arm_reset(plain, true);
        made.session = relay::make_client_session(
            context, std::move(plain), {server->world.executor(), server->pool, nullptr}, pool);
        return made;
    }
    void start(application& of) { server->world.spawn(of.session->run(), of.session, of.end); }
    bool over(application& of) {
        return until([&] { return of.socket.pump(), of.socket.over() && of.end.done; });
    }
    // The service behind the server: what it is asked and answers.
    peer accept_backend() {
        int fd = -1;
        until([&] { return (fd = backend.accept()) >= 0; });
        return peer(fd);
    }
    bool exchange(application& of, const std::string& question) {
        peer service = accept_backend();
        const bool asked = until([&] { return service.pump(), service.text() == question; });
        service.send("answer");
        return asked && until([&] { return of.socket.pump(), of.socket.text() == "answer"; });
    }

    std::size_t came = 0;  // connections
    door at_the_door = door::serves;

    listener backend;
    listener entry;
    std::deque<peer> ignored;
    std::deque<application> applications;  // outlive the loop
    std::optional<servers> server;
    std::shared_ptr<const relay::client_context> context;
    std::shared_ptr<relay::session_pool> pool;
    std::vector<servers::entry*> sessions;  // of the server
    std::vector<int> wires;                 // their sockets, to be disturbed while they live

  private:
    void serve() {
        for (int fd = entry.accept(); fd >= 0; fd = entry.accept()) {
            ++came;
            if (at_the_door == door::ignores) {
                ignored.emplace_back(fd);
            } else if (at_the_door == door::resets) {
                peer(fd).reset();
            } else {
                wires.push_back(fd);
                sessions.push_back(&server->adopt(fd));
            }
        }
    }
};

}  // namespace culvert::tests
