// A thread with its sessions: counted, reached from other threads, gone with the worker.
#include "proxy/daemon/worker.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using culvert::daemon::worker;
using culvert::relay::make_server_session;

namespace {

template <class Done>
bool eventually(Done done) {
    const auto by = culvert::carrier::clock::now() + 10s;
    while (!done()) {
        if (culvert::carrier::clock::now() > by) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

struct employer {
    employer() { w->start(); }

    peer adopt() {
        const auto [ours, theirs] = tcp_pair();
        const auto make = [context = context](culvert::carrier::stream_socket socket,
                                              culvert::relay::thread_context thread) {
            return make_server_session(context, std::move(socket), thread);
        };
        w->adopt(culvert::daemon::descriptor(theirs), "server.test", make, [this] { ++ended; });
        return peer(ours);
    }
    // The client's first flight; the answer is not looked at.
    void greet(peer& wire) {
        wire.send(message1(unix_now(), culvert::protocol::client_keys::with_psk(secret_of(1), {})));
        CHECK(eventually([&] { return wire.pump(), !wire.received.empty(); }));
    }

    culvert::protocol::replay_cache replays;
    std::shared_ptr<const culvert::relay::server_context> context =
        std::make_shared<const culvert::relay::server_context>(psk_server(free_port()), replays);
    std::atomic<int> ended{0};
    std::unique_ptr<worker> w = std::make_unique<worker>();
};

}  // namespace

TEST_SUITE("worker") {
    TEST_CASE("sessions are counted until they end") {
        employer e;
        std::vector<peer> clients;
        for (int i = 0; i < 20; ++i) clients.push_back(e.adopt());
        CHECK(e.w->load() == 20);
        clients.resize(5);
        CHECK(eventually([&] { return e.w->load() == 5; }));
        CHECK(eventually([&] { return e.ended == 15; }));
        e.w->stop();
        e.w->join();
    }

    TEST_CASE("a drain and a stop reach every session") {
        for (const bool drain : {true, false}) {
            employer e;
            peer silent = e.adopt();
            peer greeted = e.adopt();
            e.greet(greeted);
            if (drain)
                e.w->drain_sessions();
            else
                e.w->stop_sessions(end_reason::shutdown);
            CHECK(eventually([&] { return e.w->load() == 0; }));
            CHECK(eventually([&] { return silent.pump(), silent.over(); }));
            CHECK(silent.ended);
            CHECK(eventually([&] { return greeted.pump(), greeted.over(); }));
            CHECK(greeted.error == ECONNRESET);
            e.w->stop();
        }
    }

    TEST_CASE("it may end with sessions in every state") {
        employer e;
        peer silent = e.adopt();
        peer greeted = e.adopt();
        peer strange = e.adopt();
        e.greet(greeted);
        strange.send(octets(500, 1));
        e.w->stop();
        e.w.reset();
        for (peer* p : {&silent, &strange, &greeted})
            CHECK(eventually([&] { return p->pump(), p->over(); }));
    }
}
