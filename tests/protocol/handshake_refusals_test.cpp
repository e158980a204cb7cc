// What a server must meet with silence and a client with an error, though the sender knows every
// key: fields, clocks, replays, weak and unknown keys; and in which order they are judged.
#include <doctest/doctest.h>

#include "tests/protocol/forged_handshake.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;
using server_state = server_handshake::state;

// What the server makes of one message 1, at `now`.
struct verdict {
    error why = error::none;
    bool silent = false;
    octets reply;
};

class judge {
  public:
    explicit judge(const server_keys& keys) : keys_(keys) {}

    verdict of(const octets& message, unix_seconds now = noon) {
        server_handshake server(keys_, cache, 0, random_);
        server.feed(message, now);
        clock_difference = server.clock_difference();
        return {server.failure(), server.current() == server_state::silent,
                copy_of(server.message2())};
    }

    replay_cache cache;
    std::int64_t clock_difference = 0;

  private:
    const server_keys& keys_;
    seeded_random random_{5};
};

void check_silent(const verdict& v, error why) {
    CHECK(v.silent);
    CHECK(v.reply.empty());
    CHECK(v.why == why);
}

void check_answered(const verdict& v) {
    CHECK_FALSE(v.silent);
    CHECK(v.reply.size() == 112);
    CHECK(v.why == error::none);
}

TEST_CASE("the forger is as good as a client while it does nothing wrong") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        judge server(who.server);
        check_answered(server.of(forged_message1::with_time(noon).make(who.client)));
    }
}

TEST_CASE("the pad of message 1 is at most 1,023 bytes long") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        judge server(who.server);
        for (const std::uint16_t length :
             std::array<std::uint16_t, 4>{1'024, 1'025, 0x8000, 0xffff}) {
            auto message = forged_message1::with_time(noon);
            crypto::store16_le(message.hello.data() + 8, length);
            message.pad.resize(length);
            check_silent(server.of(message.make(who.client)), error::bad_field);
        }
        auto longest = forged_message1::with_time(noon);
        crypto::store16_le(longest.hello.data() + 8, 1'023);
        longest.pad.resize(1'023);
        check_answered(server.of(longest.make(who.client)));
    }
}

TEST_CASE("each reserved bit of the hello is zero") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        judge server(who.server);
        for (std::size_t bit = 0; bit < 48; ++bit) {
            auto message = forged_message1::with_time(noon);
            message.hello[10 + bit / 8] = static_cast<std::uint8_t>(1U << (bit % 8));
            check_silent(server.of(message.make(who.client)), error::bad_field);
        }
        CHECK(server.cache.size() == 0);
    }
}

TEST_CASE("clocks may be 120 s apart and no more") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        judge server(who.server);
        std::uint8_t salt = 0;
        const auto at = [&](unix_seconds time) {
            auto message = forged_message1::with_time(time);
            message.salt[0] = ++salt;
            return server.of(message.make(who.client));
        };
        check_answered(at(noon - 120));
        check_answered(at(noon + 120));
        CHECK(server.cache.size() == 2);
        check_silent(at(noon - 121), error::clock_skew);
        CHECK(server.clock_difference == -121);
        check_silent(at(noon + 121), error::clock_skew);
        CHECK(server.clock_difference == 121);
        check_silent(at(0), error::clock_skew);
        check_silent(at(~unix_seconds{0}), error::clock_skew);
        CHECK(server.cache.size() == 2);  // a refused message leaves no trace
    }
}

TEST_CASE("a server whose clock stands at zero does not wrap around") {
    const auto who = psk_parties();
    judge server(who.server);
    check_answered(server.of(forged_message1::with_time(120).make(who.client), 0));
    check_silent(server.of(forged_message1::with_time(~unix_seconds{0}).make(who.client), 0),
                 error::clock_skew);
}

TEST_CASE("with the clock check off any time will do, and replays are known for 120 s") {
    auto who = psk_parties();
    who.server.clock_skew.reset();
    judge server(who.server);
    const octets message = forged_message1::with_time(0).make(who.client);
    check_answered(server.of(message));
    check_silent(server.of(message, noon + 120), error::replay);
    auto other = forged_message1::with_time(~unix_seconds{0});
    other.salt[0] ^= 1;
    check_answered(server.of(other.make(who.client), noon + 120));
}

TEST_CASE("a salt serves once, for as long as its time would pass") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        judge server(who.server);
        const octets message = forged_message1::with_time(noon + 100).make(who.client);
        check_answered(server.of(message));
        for (const unix_seconds later : {0U, 1U, 120U, 219U, 220U})
            check_silent(server.of(message, noon + later), error::replay);
        check_silent(server.of(message, noon + 221), error::clock_skew);
    }
}

TEST_CASE("sixteen bytes of salt are what makes a replay") {
    const auto who = psk_parties();
    judge server(who.server);
    auto message = forged_message1::with_time(noon);
    check_answered(server.of(message.make(who.client)));
    message.salt[16] ^= 1;
    check_silent(server.of(message.make(who.client)), error::replay);
    message.salt[15] ^= 1;
    check_answered(server.of(message.make(who.client)));
}

TEST_CASE("one cache for several listeners and psks") {
    std::vector<crypto::secret<32>> psks;
    psks.push_back(secret_of(1));
    psks.push_back(secret_of(9));
    const auto keys = server_keys::with_psks(psks, {});
    judge server(keys);
    const auto one = client_keys::with_psk(psks[0], {});
    const auto other = client_keys::with_psk(psks[1], {});
    check_answered(server.of(forged_message1::with_time(noon).make(one)));
    check_silent(server.of(forged_message1::with_time(noon).make(other)), error::replay);
}

TEST_CASE("low-order keys of a client end in silence") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        judge server(who.server);
        std::uint8_t salt = 0;
        for (const auto& key : low_order_keys()) {
            auto message = forged_message1::with_time(noon);
            message.salt[0] = ++salt;
            message.ephemeral_shown = key;
            check_silent(server.of(message.make(who.client)), error::weak_key);
            if (!who.client.identity) continue;
            message.salt[0] = ++salt;
            message.ephemeral_shown.reset();
            message.static_shown = key;
            check_silent(server.of(message.make(who.client)), error::weak_key);
        }
    }
}

TEST_CASE("a client that is not in the list") {
    const auto who = static_parties();
    const auto stranger = client_keys::with_identity(pair_of(0x21), pair_of(3).shared);
    judge server(who.server);
    check_silent(server.of(forged_message1::with_time(noon).make(stranger)), error::unknown_client);
}

TEST_CASE("the list is asked about proven keys only") {
    auto who = static_parties();
    std::vector<public_key> asked;
    who.server.knows = [&](const public_key& key) {
        asked.push_back(key);
        return true;
    };
    judge server(who.server);
    auto message = forged_message1::with_time(noon).make(who.client);
    message[gate_size + box_b_size] ^= 1;  // box C
    check_silent(server.of(message), error::bad_box);
    CHECK(asked.empty());
    auto good = forged_message1::with_time(noon);
    good.salt[0] ^= 1;
    check_answered(server.of(good.make(who.client)));
    CHECK(asked == std::vector{pair_of(2).shared});
}

TEST_CASE("order of checks: tag, fields, clock, replay, then the static part") {
    const auto who = static_parties();
    judge server(who.server);
    auto message = forged_message1::with_time(noon);
    message.static_shown = low_order_keys()[0];
    check_silent(server.of(message.make(who.client)), error::weak_key);
    check_silent(server.of(message.make(who.client)), error::replay);
    crypto::store64_le(message.hello.data(), noon + 121);
    check_silent(server.of(message.make(who.client)), error::clock_skew);
    message.hello[15] = 1;
    check_silent(server.of(message.make(who.client)), error::bad_field);
    octets tampered = message.make(who.client);
    tampered[gate_size - 1] ^= 1;
    check_silent(server.of(tampered), error::bad_box);
}

TEST_CASE("a full cache drops its oldest salt and says so") {
    const auto who = psk_parties();
    seeded_random random(6);
    replay_cache small(1);
    client_handshake first(who.client, noon, 0, random);
    client_handshake second(who.client, noon, 0, random);
    server_handshake one(who.server, small, 0, random);
    server_handshake two(who.server, small, 0, random);
    one.feed(first.message1(), noon);
    two.feed(second.message1(), noon);
    CHECK_FALSE(one.evicted());
    CHECK(two.evicted());
    CHECK(two.current() == server_state::replied);
}

// The client's end.
error client_verdict(const parties& who, const forged_message2& answer) {
    seeded_random random(8);
    client_handshake client(who.client, noon, 0, random);
    const octets message = answer.make(who, copy_of(client.message1()));
    client.feed(message);
    CHECK((client.current() == client_handshake::state::failed) ==
          (client.failure() != error::none));
    return client.failure();
}

TEST_CASE("a client judges the fields of box F and the keys of the server") {
    for (const auto& who : all_parties()) {
        INFO(who.name);
        CHECK(client_verdict(who, {}) == error::none);
        for (std::size_t bit = 0; bit < 14 * 8; ++bit) {
            forged_message2 answer;
            answer.confirmation[2 + bit / 8] = static_cast<std::uint8_t>(1U << (bit % 8));
            CHECK(client_verdict(who, answer) == error::bad_field);
        }
        for (const std::uint16_t length : std::array<std::uint16_t, 2>{1'024, 0xffff}) {
            forged_message2 answer;
            crypto::store16_le(answer.confirmation.data(), length);
            answer.pad.resize(length);
            CHECK(client_verdict(who, answer) == error::bad_field);
        }
        forged_message2 longest;
        crypto::store16_le(longest.confirmation.data(), 1'023);
        longest.pad.resize(1'023);
        CHECK(client_verdict(who, longest) == error::none);
        for (const auto& key : low_order_keys()) {
            forged_message2 answer;
            answer.ephemeral_shown = key;
            CHECK(client_verdict(who, answer) == error::weak_key);
        }
    }
}

TEST_CASE("a client with a server key of low order says nothing") {
    seeded_random random(9);
    for (const auto& key : low_order_keys()) {
        const auto keys = client_keys::with_identity(pair_of(2), key);
        client_handshake client(keys, noon, 0, random);
        CHECK(client.current() == client_handshake::state::failed);
        CHECK(client.failure() == error::weak_key);
        CHECK(client.message1().empty());
    }
}

}  // namespace
}  // namespace culvert::tests
