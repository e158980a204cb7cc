// Clients by name: which psk is whose, what each may do, and what is counted of them.
#include <doctest/doctest.h>

#include <thread>

#include "config/mark.hpp"
#include "tests/proxy/servers.hpp"

using namespace culvert::tests;
using culvert::config::client_rights;
using culvert::config::mark_of;
using culvert::config::server_settings;
using culvert::protocol::client_keys;
using culvert::protocol::record_type;
using namespace culvert::relay;

namespace {

// Alice holds secret_of(1), bob secret_of(4).
server_settings team(std::uint16_t backend, const client_rights& of_alice = {},
                     const client_rights& of_bob = {}) {
    server_settings settings = psk_server(backend);
    settings.keys.psk.reset();
    settings.keys.psks.push_back(secret_of(1));
    settings.keys.psks.push_back(secret_of(4));
    settings.clients.push_back({"alice", mark_of(settings.keys.psks[0]), of_alice});
    settings.clients.push_back({"bob", mark_of(settings.keys.psks[1]), of_bob});
    return settings;
}

client_rights only(const std::string& service) {
    client_rights rights;
    rights.services = {service};
    return rights;
}
client_rights at_most(std::size_t connections) {
    client_rights rights;
    rights.connections = connections;
    return rights;
}

client_keys alice() {
    return client_keys::with_psk(secret_of(1), {});
}
client_keys bob() {
    return client_keys::with_psk(secret_of(4), {});
}

// A server of the team, and a backend that takes what comes.
struct team_server {
    explicit team_server(const client_rights& of_alice = {}, const client_rights& of_bob = {},
                         const server_context* before = nullptr)
        : s(team(backend.port(), of_alice, of_bob), before) {}

    struct client {
        servers::entry& entry;
        far_end far;
    };
    client connect(const client_keys& keys, record_type first = record_type::open,
                   const std::string& service = "main") {
        auto& entry = s.connect();
        client made{entry, s.shake_hands(entry, keys)};
        made.far.send(first, first == record_type::open ? octets_of_text(service) : octets());
        until(made, [&] { return entry.session->proven() || entry.end.done; });
        return made;
    }
    template <class Done>
    bool until(client& of, Done done) {
        return s.world.until([&] {
            of.far.pump();
            return done();
        });
    }
    bool reaches_backend(client& of) {
        int fd = -1;
        until(of, [&] { return (fd = backend.accept()) >= 0 || of.far.wire.over(); });
        services.emplace_back(fd);
        return fd >= 0;
    }
    // What the client is told, and why in the server's words.
    std::pair<int, std::string> refusal(client& of) {
        REQUIRE(until(of, [&] { return of.far.wire.over(); }));
        CHECK(of.far.wire.ended);
        of.far.wire.end();
        REQUIRE(until(of, [&] { return of.entry.end.done; }));
        CHECK(of.far.records.size() == 1);
        return {of.far.alert(), of.entry.end.detail};
    }
    void leave(client& of) {
        of.far.wire.reset();
        REQUIRE(until(of, [&] { return of.entry.end.done; }));
        of.entry.session.reset();
        s.world.run_for(5ms);
    }

    listener backend;
    std::vector<peer> services;
    servers s;
};

}  // namespace

TEST_SUITE("clients by name") {
    TEST_CASE("each psk of a list names its client") {
        team_server f;
        auto& entry = f.s.connect();
        far_end far = f.s.shake_hands(entry, bob());
        far.send(record_type::open);
        REQUIRE(f.s.world.until([&] { return far.pump(), entry.session->proven(); }));
        CHECK(entry.session->facts().client == "bob");

        auto other = f.connect(alice());
        CHECK(other.entry.session->facts().client == "alice");
        CHECK(f.reaches_backend(other));
    }

    TEST_CASE("a psk that is not in the list meets silence") {
        team_server f;
        auto& stranger = f.s.connect();
        stranger.wire.send(message1(unix_now(), client_keys::with_psk(secret_of(9), {})));
        f.s.world.run_for(100ms);
        stranger.wire.pump();
        CHECK(stranger.wire.received.empty());
        CHECK_FALSE(stranger.end.done);
    }

    TEST_CASE("one psk for all has no name") {
        const listener backend;
        servers s(psk_server(backend.port()));
        auto& entry = s.connect();
        far_end far = s.shake_hands(entry);
        far.send(record_type::open);
        REQUIRE(s.world.until([&] { return far.pump(), entry.session->proven(); }));
        CHECK(entry.session->facts().client.empty());
    }
}

TEST_SUITE("what a client may do") {
    TEST_CASE("a service that is not for it, and one that there is not, look the same") {
        team_server f({}, only("main"));
        auto allowed = f.connect(bob());
        CHECK(f.reaches_backend(allowed));
        auto forbidden = f.connect(bob(), record_type::open, "down");
        CHECK(f.refusal(forbidden) == std::pair(5, std::string("not for this client")));
        auto unknown = f.connect(bob(), record_type::open, "nowhere");
        CHECK(f.refusal(unknown) == std::pair(5, std::string("there is no such service")));
        for (const auto* end : {&forbidden.entry.end, &unknown.entry.end})
            CHECK(end->is(end_reason::refused));

        auto other = f.connect(alice(), record_type::open, "down");  // whom nothing is forbidden
        CHECK(f.refusal(other).first == 1);
    }

    TEST_CASE("the default service is judged by its name") {
        team_server f(only("down"));
        auto refused = f.connect(alice(), record_type::open, "");
        CHECK(f.refusal(refused).first == 5);
        auto default_of_bob = f.connect(bob(), record_type::open, "");
        CHECK(f.reaches_backend(default_of_bob));
    }

    TEST_CASE("key pairs have rights too") {
        const listener backend;
        server_settings settings = culvert::tests::static_server(backend.port());
        settings.clients.front().rights = only("down");
        servers s(std::move(settings));
        auto& entry = s.connect();
        far_end far =
            s.shake_hands(entry, client_keys::with_identity(pair_of(2), pair_of(3).shared));
        far.send(record_type::open, octets_of_text("main"));
        CHECK(s.world.until([&] { return far.pump(), far.wire.over(); }));
        CHECK(far.alert() == 5);
        CHECK(entry.session->facts().client == "laptop");
        CHECK(backend.accept() < 0);
    }

    TEST_CASE("so many connections of its own; those of others, and refused ones, do not count") {
        team_server f(at_most(2));
        auto first = f.connect(alice());
        auto second = f.connect(alice(), record_type::pad);  // kept for later
        CHECK(second.entry.session->proven());
        for (int i = 0; i < 3; ++i) {
            auto third = f.connect(alice());
            CHECK(f.refusal(third) == std::pair(6, std::string("those of this client")));
            CHECK(third.entry.end.is(end_reason::too_many));
        }
        auto others = f.connect(bob());
        CHECK(f.reaches_backend(others));
        f.leave(second);
        auto fourth = f.connect(alice());
        CHECK_FALSE(fourth.entry.end.done);
        auto fifth = f.connect(alice());
        CHECK(f.refusal(fifth).first == 6);
    }

    TEST_CASE("a place of the client is free again when the section had none for it") {
        team_server f(at_most(2));
        f.s.context->here->sessions = 8192;
        for (int i = 0; i < 3; ++i) {
            auto refused = f.connect(alice());
            CHECK(f.refusal(refused) == std::pair(6, std::string()));
        }
        f.s.context->here->sessions = 0;
        auto taken = f.connect(alice());
        CHECK(f.reaches_backend(taken));
    }

    TEST_CASE("nobody has rights before record 0, nor takes a place") {
        team_server f(at_most(1));
        std::vector<far_end> unproven;
        for (int i = 0; i < 4; ++i) {
            auto& entry = f.s.connect();
            unproven.push_back(f.s.shake_hands(entry, alice()));
        }
        auto client = f.connect(alice());
        CHECK(f.reaches_backend(client));
        CHECK(f.s.context->here->sessions == 1);
        unproven.front().send(record_type::pad);
        CHECK(
            f.s.world.until([&] { return unproven.front().pump(), unproven.front().wire.over(); }));
        CHECK(unproven.front().alert() == 6);
    }
}

TEST_SUITE("what is counted of clients") {
    TEST_CASE("places are never more than there are, whoever takes them") {
        std::atomic<std::size_t> taken{0};
        std::atomic<std::size_t> granted{0};
        std::atomic<bool> over{false};
        constexpr std::size_t most = 3;
        const auto take_and_leave = [&] {
            for (int i = 0; i < 20'000; ++i) {
                place mine(taken, most);
                if (!mine) continue;
                ++granted;
                if (taken > most) over = true;
                const place moved = std::move(mine);
                if (mine) over = true;
            }
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back(take_and_leave);
        for (std::thread& thread : threads) thread.join();
        CHECK_FALSE(over);
        CHECK(granted >= 20'000);
        CHECK(taken == 0);
    }

    TEST_CASE("a place that is taken in the place of another leaves that one") {
        std::atomic<std::size_t> taken{0};
        place held(taken, 1);
        CHECK(held);
        CHECK_FALSE(place(taken, 1));
        held = {};
        CHECK(taken == 0);
        held = place(taken, 1);
        CHECK(taken == 1);
    }

    TEST_CASE("the account of a name goes on in the next configuration") {
        culvert::protocol::replay_cache cache;
        auto before = std::make_unique<server_context>(team(1), cache);
        const auto here = before->here;
        const std::weak_ptr<client_account> of_alice = here->clients.account_of("alice");
        const std::weak_ptr<client_account> of_bob = here->clients.account_of("bob");
        REQUIRE(of_alice.lock());
        server_settings changed = team(2, at_most(7));
        changed.clients[1].name = "carol";
        const server_context after(std::move(changed), cache, before.get());
        before.reset();
        CHECK(here->clients.account_of("alice") == of_alice.lock());
        CHECK(of_bob.expired());
    }

    TEST_CASE("what an old configuration let in counts for the new one's limits") {
        team_server old;
        auto first = old.connect(alice());
        auto second = old.connect(alice());
        team_server now(at_most(1), {}, old.s.context.get());
        auto refused = now.connect(alice());
        CHECK(now.refusal(refused).first == 6);
        auto other = now.connect(bob());
        CHECK(now.reaches_backend(other));
        old.leave(first);
        old.leave(second);
        auto taken = now.connect(alice());
        CHECK(now.reaches_backend(taken));
    }

    TEST_CASE("a section that was read anew knows who stays") {
        team_server f;
        auto session = f.connect(bob());
        culvert::protocol::replay_cache cache;
        const auto known_to = [&](server_settings settings) {
            return session.entry.session->known_to(server_context(std::move(settings), cache));
        };
        CHECK(known_to(team(1)));
        server_settings other_order = team(2, at_most(1));
        std::swap(other_order.keys.psks[0], other_order.keys.psks[1]);
        std::swap(other_order.clients[0], other_order.clients[1]);
        CHECK(known_to(std::move(other_order)));

        server_settings removed = team(1);
        removed.keys.psks.pop_back();
        removed.clients.pop_back();
        CHECK_FALSE(known_to(std::move(removed)));
        server_settings other_key = team(1);
        other_key.keys.psks[1] = secret_of(5);
        other_key.clients[1].key = mark_of(other_key.keys.psks[1]);
        CHECK_FALSE(known_to(std::move(other_key)));
        server_settings renamed = team(1);
        renamed.clients[1].name = "carol";
        CHECK_FALSE(known_to(std::move(renamed)));
        server_settings elsewhere = team(1);
        elsewhere.name = "other";
        elsewhere.keys.psks.pop_back();
        elsewhere.clients.pop_back();
        CHECK(known_to(std::move(elsewhere)));

        // One psk for all: whoever has another now is gone.
        CHECK_FALSE(known_to(psk_server(1)));
    }
}
