// client_handshake: the answer comes from a stranger, or from a server that has the keys and breaks
// the rules. A model says beforehand what the client must make of it.
#include "tests/fuzz/handshakes.hpp"

namespace culvert::fuzz {
namespace {

using protocol::client_handshake;
using protocol::error;
using state = client_handshake::state;

struct outcome {
    state end = state::await_d;
    error why = error::none;
    std::size_t used = 0;  // bytes of message 2
};

outcome feed(input& in, client_handshake& client, bytes_view message) {
    outcome got;
    in.in_pieces(message, [&](const buffer& piece) {
        const state before = client.current();
        const std::size_t used = client.feed(piece);
        const bool over = client.current() == state::open || client.current() == state::failed;
        got.used += used;
        require(over || used == piece.size());
        if (before == state::open || before == state::failed) {
            require(used == 0 && client.current() == before);
        }
        require((client.failure() != error::none) == (client.current() == state::failed));
        require(client.message1().empty() == (client.current() == state::failed));
    });
    got.end = client.current();
    got.why = client.failure();
    return got;
}

// How far the fields of message 2 reach.
constexpr std::size_t end_of_d = protocol::salt_size + protocol::box_d_size;
constexpr std::size_t end_of_f = end_of_d + protocol::box_f_size;

// Who shows the one key and uses the other gets away with it only if both mean the same point.
bool same_point(const protocol::public_key& a, const protocol::public_key& b) {
    static const auto ours = tests::pair_of(0x11);
    return protocol::agree(ours, a) == protocol::agree(ours, b);
}

// The verdict of PROTOCOL.md section 3, in its order.
outcome expected(const tests::forged_message2& forged, const damage& done) {
    const auto failed = [](error e, std::size_t at) { return outcome{state::failed, e, at}; };
    const buffer& inside = forged.confirmation;
    const auto& shown = forged.ephemeral_shown;
    const std::size_t pad = crypto::load16_le(inside.data());

    if (done.size < end_of_d) return {state::await_d, error::none, done.size};
    if (done.intact < end_of_d) return failed(error::bad_box, end_of_d);
    if (shown && is_weak(*shown)) return failed(error::weak_key, end_of_d);
    if (done.size < end_of_f) return {state::await_f, error::none, done.size};
    const bool lies = shown && !same_point(*shown, tests::pair_of(0x66).shared);
    if (done.intact < end_of_f || lies) return failed(error::bad_box, end_of_f);
    const bool zeros = std::all_of(inside.begin() + 2, inside.end(), [](auto b) { return b == 0; });
    if (pad > 1'023 || !zeros) return failed(error::bad_field, end_of_f);
    if (done.size < end_of_f + pad) return {state::await_pad, error::none, done.size};
    return {state::open, error::none, end_of_f + pad};
}

void run(input in) {
    const parties& who = choose_parties(in);
    tests::seeded_random random(in.byte());
    client_handshake client(who.client, tests::noon, 0, random);
    const buffer message1 = copy(client.message1());

    if (in.up_to(7) == 0) {  // a stranger
        const buffer message = in.message(1'500);
        const bool judged = message.size() >= end_of_d;
        const outcome got = feed(in, client, message);
        require(got.end == (judged ? state::failed : state::await_d));
        require(got.why == (judged ? error::bad_box : error::none));
        return;
    }

    tests::forged_message2 forged;
    crypto::store16_le(forged.confirmation.data(), static_cast<std::uint16_t>(in.up_to(1'030)));
    if (in.up_to(3) == 1) forged.confirmation[in.up_to(15)] ^= in.byte();
    if (in.up_to(3) == 1) {
        forged.ephemeral_shown = in.flag() ? foreign_key(in) : tests::pair_of(0x66).shared;
        if (in.flag()) (*forged.ephemeral_shown)[31] ^= 0x80;
    }
    forged.pad = in.message(protocol::max_pad + 40);
    buffer message = forged.make(who, message1);
    const damage done = tamper_with(in, message);

    const outcome must = expected(forged, done);
    const outcome got = feed(in, client, message);
    require(got.end == must.end && got.why == must.why && got.used == must.used);
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
