// What goes in at one end comes out at the other: all of it, in order, in bounded memory.
#include <doctest/doctest.h>

#include "tests/proxy/tunnels.hpp"

using namespace culvert::tests;
using culvert::protocol::record_type;

namespace {

// Sends piece by piece as the kernel takes it, then ends.
struct source {
    octets data;
    std::size_t sent = 0;
    bool ends = true;
    bool ended = false;

    void pump(peer& into) {
        while (sent < data.size()) {
            const std::size_t done = into.send(culvert::crypto::bytes_view(data).subspan(sent));
            if (done == 0) return;
            sent += done;
        }
        if (ends && !std::exchange(ended, true)) into.end();
    }
};

octets random_octets(std::size_t size) {
    static seeded_random random(fresh_seed());
    return random.bytes(size);
}

std::string text_of(by carrier) {
    return carrier == by::tcp ? "tcp" : "websocket";
}

// Both streams whole, both sockets ended without a reset, both sessions in good order.
void check_exchange(two_tunnels& t, source up, source down) {
    const auto finished = [&] {
        up.pump(t.application);
        down.pump(t.service);
        return t.both_done() && t.application.over() && t.service.over();
    };
    REQUIRE(t.until(finished));
    CHECK(t.service.received == up.data);
    CHECK(t.application.received == down.data);
    CHECK(t.application.error == 0);
    CHECK(t.service.error == 0);
    CHECK(t.client_end.clean());
    CHECK(t.server_end.clean());
    CHECK(t.pool.in_use() == 0);
    CHECK((*t.client)->moved().to_tunnel == up.data.size());
    CHECK((*t.server)->moved().from_tunnel == up.data.size());
    CHECK((*t.server)->moved().to_tunnel == down.data.size());
    CHECK((*t.client)->moved().from_tunnel == down.data.size());
}

}  // namespace

TEST_SUITE("tunnel: data") {
    TEST_CASE("both directions deliver all and end in good order") {
        const std::size_t sizes[] = {0, 1, 1'350, 1'351, 65'536, 200'000, 1'500'000};
        for (const by carrier : {by::tcp, by::websocket})
            for (const std::size_t size : sizes) {
                CAPTURE(text_of(carrier));
                CAPTURE(size);
                two_tunnels t({carrier});
                check_exchange(t, {random_octets(size)}, {random_octets(size / 2)});
            }
    }

    TEST_CASE("also through small buffers of the kernel") {
        for (const by carrier : {by::tcp, by::websocket}) {
            CAPTURE(text_of(carrier));
            two_tunnels t({.carrier = carrier, .small_buffers = true});
            check_exchange(t, {random_octets(700'000)}, {random_octets(700'000)});
        }
    }

    TEST_CASE("a half-closed stream still gets its late reply, in both directions") {
        for (const by carrier : {by::tcp, by::websocket})
            for (const bool from_application : {true, false}) {
                CAPTURE(text_of(carrier));
                CAPTURE(from_application);
                two_tunnels t({carrier});
                peer& first = from_application ? t.application : t.service;
                peer& second = from_application ? t.service : t.application;
                source question{random_octets(300'000)};
                source answer{random_octets(600'000)};
                REQUIRE(t.until([&] {
                    question.pump(first);
                    return second.ended;
                }));
                CHECK(second.received == question.data);
                t.world.run_for(100ms);
                CHECK_FALSE(t.both_done());
                REQUIRE(t.until([&] {
                    answer.pump(second);
                    return first.over() && t.both_done();
                }));
                CHECK(first.ended);
                CHECK(first.received == answer.data);
                CHECK(t.client_end.clean());
                CHECK(t.server_end.clean());
            }
    }

    TEST_CASE("new epochs in the middle of a transfer") {
        culvert::protocol::epoch_limits epochs;
        epochs.bytes = 10'000;
        two_tunnels t({.epochs = epochs});
        check_exchange(t, {random_octets(1'000'000)}, {random_octets(1'000'000)});

        one_tunnel seen(default_limits(), {.epochs = epochs});
        source up{random_octets(500'000)};
        REQUIRE(seen.until([&] {
            up.pump(seen.application);
            return seen.far->got(record_type::end);
        }));
        CHECK(seen.far->stream == up.data);
        CHECK(seen.far->opener().epoch() >= 7);
    }

    TEST_CASE("an idle tunnel holds no buffer") {
        two_tunnels t;
        t.world.run_for(20ms);
        CHECK(t.pool.in_use() == 0);
        source up{random_octets(100'000), 0, false};
        REQUIRE(t.until([&] {
            up.pump(t.application);
            return t.service.received.size() == up.data.size();
        }));
        CHECK(t.until([&] { return t.pool.in_use() == 0; }, 1s));
    }

    TEST_CASE("a flood that the application does not read waits in bounded memory") {
        one_tunnel t(default_limits(), {.small_buffers = true});
        const octets piece = random_octets(50'000);
        octets all;
        for (int i = 0; i < 40; ++i) {
            t.far->send(record_type::data, piece);
            all.insert(all.end(), piece.begin(), piece.end());
        }
        std::size_t most = 0;
        t.world.until(
            [&] {
                t.far->pump();
                most = std::max(most, t.pool.in_use());
                return false;
            },
            400ms);
        CHECK_FALSE(t.far->sent());
        CHECK(most <= 1);
        REQUIRE(t.until([&] { return t.application.received.size() == all.size(); }));
        CHECK(t.application.received == all);
        CHECK_FALSE(t.end.done);
    }

    TEST_CASE("a flood that the other end does not read, too") {
        one_tunnel t(default_limits(), {.small_buffers = true});
        source up{random_octets(2'000'000)};
        std::size_t most = 0;
        t.world.until(
            [&] {
                up.pump(t.application);
                most = std::max(most, t.pool.in_use());
                return false;
            },
            400ms);
        CHECK(up.sent < up.data.size());
        CHECK(most <= 1);
        REQUIRE(t.until([&] {
            up.pump(t.application);
            return t.far->got(record_type::end);
        }));
        CHECK(t.far->stream == up.data);
    }

    TEST_CASE("PADs without a pause between the data keep the order of the records") {
        culvert::config::session_limits limits;
        limits.keepalive = 0s;
        one_tunnel t(limits);
        source up{random_octets(1'000'000)};
        REQUIRE(t.until([&] {
            up.pump(t.application);
            return t.far->got(record_type::end) || t.far->fault != culvert::protocol::error::none;
        }));
        CHECK(t.far->fault == culvert::protocol::error::none);
        CHECK(t.far->stream == up.data);
        CHECK(t.until([&] { return t.far->count(record_type::pad) > 10; }));
    }

    TEST_CASE("records that came behind the handshake go first") {
        opened_session session;
        octets leftover = seal_record(session.client.sealer, record_type::data, random_octets(10));
        const octets half = seal_record(session.client.sealer, record_type::data, random_octets(9));
        const auto rest = half.begin() + 7;
        leftover.insert(leftover.end(), half.begin(), rest);

        // The server's end is the same in each new session; the records are its client's.
        one_tunnel t(default_limits(), {}, {leftover.begin(), leftover.end()});
        t.far->send_raw({rest, half.end()});
        CHECK(t.until([&] { return t.application.received.size() == 19; }));
    }

    TEST_CASE("an application on a unix socket") {
        one_tunnel t(default_limits(), {.unix_application = true});
        source up{random_octets(100'000)};
        t.far->send(record_type::data, octets_of_text("answer"));
        t.far->send(record_type::end);
        REQUIRE(t.until([&] {
            up.pump(t.application);
            return t.application.over() && t.far->got(record_type::end);
        }));
        CHECK(t.application.ended);
        CHECK(t.application.text() == "answer");
        CHECK(t.far->stream == up.data);
        t.far->wire.end();
        CHECK(t.until([&] { return t.end.done; }));
        CHECK(t.end.clean());
    }
}
