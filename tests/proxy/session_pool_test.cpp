// Sessions made ahead of need: how many, for how long, and what happens when they die.
#include "proxy/relay/session_pool.hpp"

#include <doctest/doctest.h>

#include "tests/proxy/pooled.hpp"

using namespace culvert::tests;
using culvert::relay::spare_session;

namespace {

std::size_t count_alive(const pooled& p) {
    return static_cast<std::size_t>(std::count_if(p.sessions.begin(), p.sessions.end(),
                                                  [](const auto* s) { return !s->end.done; }));
}

}  // namespace

TEST_SUITE("session pool") {
    TEST_CASE("it fills to its size and no further, over each carrier") {
        for (const auto carrier :
             {culvert::config::carrier::tcp, culvert::config::carrier::websocket}) {
            pooled p(3, [carrier](auto& ours, auto& theirs) {
                ours.connect.front().carrier = theirs.carrier = carrier;
            });
            REQUIRE(p.filled(3));
            p.run_for(100ms);
            CHECK(p.came == 3);
            CHECK(p.pool->size() == 3);
            CHECK(p.backend.accept() == -1);
            CHECK(p.server->pool.in_use() == 0);
        }
    }

    TEST_CASE("more than are dialled at once") {
        pooled p(40);
        REQUIRE(p.filled(40));
        CHECK(p.came == 40);
    }

    TEST_CASE("what is taken is replaced") {
        pooled p(2);
        REQUIRE(p.filled(2));
        for (std::size_t i = 1; i <= 5; ++i) {
            auto taken = p.pool->take();
            REQUIRE(taken);
            REQUIRE(p.filled(2));
            CHECK(p.came == 2 + i);
            taken->writer->to().reset();
        }
    }

    TEST_CASE("an empty pool gives nothing, and does not wait") {
        pooled p(2);
        CHECK_FALSE(p.pool->take());
    }

    TEST_CASE("whatever ends a spare session: it is dropped and replaced") {
        for (const int how : {0, 1, 2, 3}) {
            CAPTURE(how);
            pooled p(3);
            REQUIRE(p.filled(3));
            if (how == 0) cut(p.wires[1]);
            if (how == 1) ::shutdown(p.wires[1], SHUT_RDWR);
            if (how == 2) CHECK(::send(p.wires[1], octets(100, 0x41).data(), 100, 0) == 100);
            if (how == 3) p.sessions[1]->session->drain();  // ALERT 6
            REQUIRE(p.until([&] { return p.came == 4; }));
            REQUIRE(p.filled(3));
            CHECK(p.until([&] { return p.sessions[1]->end.done; }));
            CHECK(p.until([&] { return count_alive(p) == 3; }));
        }
    }

    TEST_CASE("a death that nobody has noticed yet is noticed by taking") {
        pooled p(3);
        REQUIRE(p.filled(3));
        for (const int wire : p.wires) cut(wire);
        CHECK_FALSE(p.pool->take());
        CHECK(p.filled(3));
    }

    TEST_CASE("a server that can't be reached is tried less and less often, and found again") {
        pooled p(3);
        p.at_the_door = pooled::door::resets;
        p.run_for(2s);
        // Three at once, then one after 0.25 to 0.5 s, 0.5 to 1 s, 1 to 2 s.
        CHECK(p.came >= 4);
        CHECK(p.came <= 6);
        CHECK(p.context->pool_fails);
        p.at_the_door = pooled::door::serves;
        p.pool->server_is_there();
        REQUIRE(p.filled(3));
        CHECK_FALSE(p.context->pool_fails);
    }

    TEST_CASE("a server without room for all is not stormed") {
        pooled p(4, [](auto&, auto& theirs) { theirs.waiting = 2; });
        REQUIRE(p.until([&] { return p.came == 4 && p.pool->ready() == 2; }));
        p.run_for(1s);
        CHECK(p.came <= 7);
        CHECK(count_alive(p) <= 3);
        CHECK(p.pool->ready() >= 2);
        CHECK(p.context->pool_fails);
    }

    TEST_CASE("stop ends the spare sessions with a word to the server, and makes no others") {
        pooled p(3);
        REQUIRE(p.filled(3));
        p.pool->stop();
        CHECK(p.pool->ready() == 0);
        REQUIRE(p.until([&] { return p.pool->size() == 0; }, 1s));
        p.run_for(100ms);
        CHECK(p.came == 3);
        for (const auto* session : p.sessions) {
            REQUIRE(session->end.done);
            CHECK(session->end.is(end_reason::alerted));
            CHECK(session->session->unused());
        }
    }

    TEST_CASE("stop while it fills") {
        pooled p(3);
        p.at_the_door = pooled::door::ignores;
        REQUIRE(p.until([&] { return p.came == 3; }));
        p.pool->stop();
        CHECK(p.pool->size() == 0);
        for (peer& one : p.ignored) one.close();
        p.run_for(100ms);
        CHECK(p.pool->size() == 0);
        CHECK(p.came == 3);
    }

    TEST_CASE("it may be destroyed with sessions in every state") {
        pooled p(2);
        REQUIRE(p.filled(2));
        p.at_the_door = pooled::door::ignores;
        const auto taken = p.pool->take();
        REQUIRE(p.until([&] { return p.came == 3; }));
        p.pool->distrust();
    }

    TEST_CASE("sessions do not grow old in it") {
        pooled p(2, [](auto& ours, auto&) { ours.limits.age = 1s; });
        REQUIRE(p.filled(2));
        REQUIRE(p.until([&] { return p.came >= 6; }, 5s));
        CHECK(p.until([&] { return p.pool->ready() == 2; }));
        CHECK_FALSE(p.context->pool_fails);
        CHECK(p.until([&] { return count_alive(p) == 2; }));
        CHECK(p.sessions.front()->session->unused());
    }

    TEST_CASE("keepalive goes both ways, and silence is no life") {
        pooled p(1, [](auto& ours, auto& theirs) {
            ours.limits.keepalive = theirs.limits.keepalive = 1s;
        });
        REQUIRE(p.filled(1));
        auto taken = p.pool->take();
        REQUIRE(taken);
        spare_session spare(std::move(*taken), p.context->settings.limits, p.server->pool,
                            culvert::carrier::clock::now() + 1h, 1'500ms);
        ending end;
        p.server->world.spawn(spare.keep(), end);
        const auto made = spare.made();
        // The server's PAD comes within a second, the next one within another.
        REQUIRE(p.until([&] { return spare.heard() > made + 1'200ms || end.done; }, 5s));
        CHECK(spare.ready());
        spare.stop(end_reason::shutdown);
        REQUIRE(p.until([&] { return end.done; }));
    }

    TEST_CASE("a server that refuses at once is tried again later, not all the time") {
        // On one host the refusal is there before anybody has waited for it.
        pooled p(4, [](auto& ours, auto&) { ours.connect.front().place = local(free_port()); });
        p.run_for(100ms);
        CHECK(p.pool->size() == 0);
        p.pool->stop();
    }

    TEST_CASE("a spare session that hears nothing is given up") {
        pooled p(1);
        REQUIRE(p.filled(1));
        auto taken = p.pool->take();
        REQUIRE(taken);
        spare_session spare(std::move(*taken), p.context->settings.limits, p.server->pool,
                            culvert::carrier::clock::now() + 1h, 200ms);
        ending end;
        p.server->world.spawn(spare.keep(), end);
        p.run_for(20ms);
        CHECK(spare.ready());
        REQUIRE(p.until([&] { return end.done; }));
        CHECK(end.is(end_reason::shutdown));
        CHECK_FALSE(spare.ready());
    }
}
