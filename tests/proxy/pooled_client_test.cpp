// Applications over sessions made ahead, and what they notice of those that die.
#include <doctest/doctest.h>

#include "tests/proxy/pooled.hpp"

using namespace culvert::tests;

TEST_SUITE("pooled client") {
    TEST_CASE("an application costs no handshake, and its bytes come whole, over each carrier") {
        for (const auto carrier :
             {culvert::config::carrier::tcp, culvert::config::carrier::websocket}) {
            pooled p(1, [carrier](auto& ours, auto& theirs) {
                ours.connect.front().carrier = theirs.carrier = carrier;
                ours.service = "main";
            });
            REQUIRE(p.filled(1));
            p.at_the_door = pooled::door::ignores;  // nothing new comes about
            const octets question = seeded_random(1).bytes(300'000);
            const octets answer = seeded_random(2).bytes(300'000);
            auto& app = p.connect();
            octets rest = question;
            rest.erase(rest.begin(),
                       rest.begin() + static_cast<std::ptrdiff_t>(app.socket.send(rest)));
            p.start(app);
            peer service = p.accept_backend();
            REQUIRE(p.until([&] {
                rest.erase(rest.begin(),
                           rest.begin() + static_cast<std::ptrdiff_t>(app.socket.send(rest)));
                return service.pump(), service.received.size() == question.size();
            }));
            CHECK(service.received == question);
            app.socket.end();
            REQUIRE(p.until([&] { return service.pump(), service.ended; }));
            rest = answer;
            REQUIRE(p.until([&] {
                rest.erase(rest.begin(),
                           rest.begin() + static_cast<std::ptrdiff_t>(service.send(rest)));
                return app.socket.pump(), app.socket.received.size() == answer.size();
            }));
            service.end();
            REQUIRE(p.over(app));
            CHECK(app.socket.received == answer);
            CHECK(app.end.clean());
            CHECK(app.session->moved().to_tunnel == question.size());
            CHECK(app.session->moved().from_tunnel == answer.size());
        }
    }

    TEST_CASE("dead spare sessions are no application's business") {
        pooled p(3);
        REQUIRE(p.filled(3));
        for (const int wire : p.wires) cut(wire);
        auto& app = p.connect();
        app.socket.send("question");
        p.start(app);
        CHECK(p.exchange(app, "question"));
        CHECK(p.filled(3));
    }

    TEST_CASE("without a spare session it makes its own") {
        pooled p(1);
        auto& app = p.connect();
        app.socket.send("question");
        p.start(app);
        CHECK(p.exchange(app, "question"));
    }

    TEST_CASE("the server opens nothing any more: another session is asked, once") {
        pooled p(1);
        REQUIRE(p.filled(1));
        auto& app = p.connect();
        app.socket.send("quest");
        p.start(app);
        REQUIRE(p.until([&] { return p.pool->ready() == 0; }));
        // OPEN and the bytes are out, and the server has not looked at them.
        p.sessions[0]->session->drain();
        app.socket.send("ion");
        CHECK(p.exchange(app, "question"));
        CHECK(p.sessions[0]->end.done);
        CHECK(p.backend.accept() == -1);
    }

    TEST_CASE("lost before the application has said a word: it notices nothing") {
        pooled p(1);
        REQUIRE(p.filled(1));
        auto& app = p.connect();
        p.start(app);
        REQUIRE(p.until([&] { return p.pool->ready() == 0; }));
        cut(p.wires[0]);
        p.run_for(20ms);
        app.socket.send("question");
        CHECK(p.exchange(app, "question"));
    }

    TEST_CASE("lost after its first bytes: a reset, the bytes are not sent twice") {
        pooled p(3);
        REQUIRE(p.filled(3));
        auto& app = p.connect();
        app.socket.send("question");
        p.start(app);
        REQUIRE(p.until([&] { return p.pool->ready() == 2; }));
        for (const int wire : p.wires) {
            octets waiting(1'000);
            const auto unread =
                ::recv(wire, waiting.data(), waiting.size(), MSG_PEEK | MSG_DONTWAIT);
            if (unread > 0) cut(wire);
        }
        REQUIRE(p.over(app));
        CHECK(app.socket.error == ECONNRESET);
        CHECK(app.end.is(end_reason::tunnel_lost));
        CHECK(p.backend.accept() == -1);
        // The other two may be as dead: they are not trusted any more.
        CHECK(p.until([&] {
            return p.sessions[0]->end.done && p.sessions[1]->end.done && p.sessions[2]->end.done;
        }));
        CHECK(p.filled(3));
    }

    TEST_CASE("an application that is gone before its turn ends its session alone") {
        pooled p(1);
        REQUIRE(p.filled(1));
        auto& app = p.connect();
        app.socket.reset();
        p.start(app);
        REQUIRE(p.until([&] { return app.end.done; }));
        CHECK(app.end.is(end_reason::application_reset));
        CHECK(p.backend.accept() == -1);
        CHECK(p.filled(1));
    }

    TEST_CASE("a stop ends an application on a spare session as on any other") {
        pooled p(1);
        REQUIRE(p.filled(1));
        auto& app = p.connect();
        p.start(app);
        const peer service = p.accept_backend();
        app.session->stop(end_reason::shutdown);
        REQUIRE(p.over(app));
        CHECK(app.socket.error == ECONNRESET);
        CHECK(app.end.is(end_reason::shutdown));
    }
}
