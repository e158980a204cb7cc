// server_handshake: what arrives comes from a stranger, or from somebody who has the keys and
// breaks the rules. A model says beforehand what the server must make of it.
#include "tests/fuzz/handshakes.hpp"

namespace culvert::fuzz {
namespace {

using protocol::error;
using protocol::server_handshake;
using state = server_handshake::state;

struct outcome {
    state end = state::await_a;
    error why = error::none;
    std::size_t used = 0;  // bytes of message 1
};

// Whether what can be seen of the server fits together.
void check_looks(const server_handshake& server) {
    const bool replied = server.current() == state::replied;
    require(server.message2().empty() != replied);
    require((server.failure() != error::none) == (server.current() == state::silent));
}

outcome feed(input& in, server_handshake& server, bytes_view message) {
    outcome got;
    in.in_pieces(message, [&](const buffer& piece) {
        const state before = server.current();
        const error failure = server.failure();
        const std::size_t used = server.feed(piece, tests::noon);
        got.used += used;
        if (before == state::silent) {  // never left, whatever comes
            require(server.current() == state::silent && server.failure() == failure);
        }
        if (server.current() != state::replied) require(used == piece.size());
        if (before == state::replied) require(used == 0);
        check_looks(server);
    });
    got.end = server.current();
    got.why = server.failure();
    return got;
}

// Strangers' bytes: never an answer.
void run_stranger(input& in, const parties& who) {
    protocol::replay_cache cache(8);
    tests::seeded_random random(in.byte());
    server_handshake server(who.server, cache, 0, random);
    const buffer message = in.message(2'000);
    const outcome got = feed(in, server, message);
    const bool judged = message.size() >= protocol::gate_size;
    require(got.end == (judged ? state::silent : state::await_a));
    require(got.why == (judged ? error::bad_box : error::none));
    require(cache.size() == 0);  // a stranger can't fill it
}

// A first message, made by somebody who has the keys, and what is wrong with it.
class insider {
  public:
    insider(input& in, const parties& who) : who_(who), forged_(hello(in)) {
        if (in.flag()) forged_.salt = buffer(protocol::salt_size, in.byte());
        if (in.up_to(3) == 1) forged_.ephemeral_shown = foreign_key(in);
        if (in.up_to(3) == 1) forged_.static_shown = foreign_key(in);
        forged_.pad = in.message(protocol::max_pad + 40);
        if (in.flag()) {  // a pad of the declared length
            forged_.pad.resize(std::min<std::size_t>(pad_length(), protocol::max_pad));
        }
        is_listed_ = in.up_to(3) != 1;
    }

    [[nodiscard]] buffer message() const {
        if (is_listed_ || !who_.client.identity) return forged_.make(who_.client);
        protocol::client_keys other{who_.client.start.clone(), tests::pair_of(0x21),
                                    who_.client.server};
        return forged_.make(other);
    }

    // The verdict of PROTOCOL.md section 3, in its order.
    [[nodiscard]] outcome expected(const damage& done) const {
        using protocol::gate_size;
        constexpr std::size_t static_part = protocol::box_b_size + protocol::box_c_size;
        if (done.size < gate_size) return {state::await_a, error::none, done.size};
        if (const error e = error_of_gate(done); e != error::none) return silence(e, done);
        std::size_t needed = gate_size;
        if (who_.client.identity) {
            needed += static_part;
            if (done.size < needed) return {state::await_bc, error::none, done.size};
            if (const error e = error_of_client(done); e != error::none) return silence(e, done);
        }
        needed += pad_length();
        if (done.size < needed) return {state::await_pad, error::none, done.size};
        if (shown_is_weak()) return silence(error::weak_key, done);
        return {state::replied, error::none, needed};
    }

    // The salt of such a message goes into the cache.
    [[nodiscard]] bool passes_gate(const damage& done) const {
        return done.size >= protocol::gate_size && error_of_gate(done) == error::none;
    }

  private:
    static tests::forged_message1 hello(input& in) {
        // Near the limits more often than chance would have it.
        const protocol::unix_seconds time =
            in.flag() ? tests::noon - 125 + in.up_to(250) : crypto::load64_le(in.block<8>().data());
        auto out = tests::forged_message1::with_time(time);
        crypto::store16_le(out.hello.data() + 8, static_cast<std::uint16_t>(in.up_to(1'030)));
        if (in.up_to(3) == 1) out.hello[8 + in.up_to(7)] ^= in.byte();
        return out;
    }

    [[nodiscard]] std::size_t pad_length() const {
        return crypto::load16_le(forged_.hello.data() + 8);
    }
    [[nodiscard]] bool shown_is_weak() const {
        return forged_.ephemeral_shown && is_weak(*forged_.ephemeral_shown);
    }

    [[nodiscard]] error error_of_gate(const damage& done) const {
        if (done.intact < protocol::gate_size) return error::bad_box;
        const buffer& hello = forged_.hello;
        if (pad_length() > 1'023 ||
            hello[10] + hello[11] + hello[12] + hello[13] + hello[14] + hello[15] != 0)
            return error::bad_field;
        const auto time = crypto::load64_le(hello.data());
        return time < tests::noon - 120 || time > tests::noon + 120 ? error::clock_skew
                                                                    : error::none;
    }

    [[nodiscard]] error error_of_client(const damage& done) const {
        constexpr std::size_t end_of_b = protocol::gate_size + protocol::box_b_size;
        if (shown_is_weak()) return error::weak_key;
        if (done.intact < end_of_b || lies_about(forged_.ephemeral_shown)) return error::bad_box;
        if (forged_.static_shown && is_weak(*forged_.static_shown)) return error::weak_key;
        if (done.intact < end_of_b + protocol::box_c_size || lies_about(forged_.static_shown))
            return error::bad_box;
        return is_listed_ ? error::none : error::unknown_client;
    }
    // No key that the fuzzer can show gives the same Diffie-Hellman value as the one that it uses.
    static bool lies_about(const std::optional<protocol::public_key>& shown) {
        return shown.has_value();
    }

    static outcome silence(error e, const damage& done) { return {state::silent, e, done.size}; }

    const parties& who_;
    tests::forged_message1 forged_;
    bool is_listed_ = true;
};

void run_insider(input& in, const parties& who) {
    const insider client(in, who);
    buffer message = client.message();
    const damage done = tamper_with(in, message);

    protocol::replay_cache cache(8);
    tests::seeded_random random(in.byte());
    server_handshake server(who.server, cache, static_cast<std::uint16_t>(in.up_to(1'023)), random);
    const outcome got = feed(in, server, message);
    const outcome expected = client.expected(done);
    require(got.end == expected.end && got.why == expected.why && got.used == expected.used);

    // The same once more, whole.
    server_handshake second(who.server, cache, 0, random);
    second.feed(message, tests::noon);
    require(second.current() != state::replied);
    if (client.passes_gate(done)) require(second.failure() == error::replay);
}

// An honest client; only the pad, which no tag covers, may be damaged. The server can't see that,
// the client must.
void run_honest(input& in, const parties& who) {
    tests::seeded_random random(in.byte());
    protocol::client_handshake client(who.client, tests::noon,
                                      static_cast<std::uint16_t>(in.up_to(1'023)), random);
    buffer message = copy(client.message1());
    const std::size_t base =
        protocol::gate_size +
        (who.client.identity ? protocol::box_b_size + protocol::box_c_size : 0);
    const bool damaged = message.size() > base && in.flag();
    if (damaged) message[base + in.up_to(message.size() - base - 1)] ^= 0x40;

    protocol::replay_cache cache(8);
    server_handshake server(who.server, cache, static_cast<std::uint16_t>(in.up_to(1'023)), random);
    const outcome got = feed(in, server, message);
    require(got.end == state::replied && got.used == message.size());
    client.feed(server.message2());
    using client_state = protocol::client_handshake::state;
    require(client.current() == (damaged ? client_state::failed : client_state::open));
    if (damaged) return;
    const auto ours = std::move(server).split(), theirs = std::move(client).split();
    require(ours.c2s == theirs.c2s && ours.s2c == theirs.s2c && ours.binding == theirs.binding);
}

void run(input in) {
    const parties& who = choose_parties(in);
    switch (in.up_to(7)) {
        case 0:
            return run_stranger(in, who);
        case 1:
            return run_honest(in, who);
        default:
            return run_insider(in, who);
    }
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
