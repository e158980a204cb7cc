// Handshake messages made by hand, step by step, so that any field of them can be wrong.
#pragma once

#include "tests/protocol/parties.hpp"

namespace culvert::tests {

// The encodings of points of low order, with which every DH gives zero.
inline const std::array<protocol::public_key, 7>& low_order_keys() {
    static const auto keys = [] {
        std::array<protocol::public_key, 7> out{};
        out[1][0] = 1;
        out[2] = {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
                  0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
                  0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00};
        out[3] = {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
                  0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c,
                  0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57};
        for (std::size_t i = 4; i < 7; ++i) {  // p − 1, p and p + 1, p = 2^255 − 19
            out[i].fill(0xff);
            out[i][0] = static_cast<std::uint8_t>(0xec + (i - 4));
            out[i][31] = 0x7f;
        }
        return out;
    }();
    return keys;
}

// A message 1 that is right but for what is set here.
struct forged_message1 {
    octets salt = octets(protocol::salt_size, 0x5a);
    octets hello = octets(protocol::hello_size);  // see with_time
    crypto::secret<32> ephemeral = secret_of(0x77);
    std::optional<protocol::public_key> ephemeral_shown = {};  // another key in box A
    std::optional<protocol::public_key> static_shown = {};     // another key in box B
    octets pad = {};

    static forged_message1 with_time(protocol::unix_seconds time) {
        forged_message1 out;
        crypto::store64_le(out.hello.data(), time);
        return out;
    }

    [[nodiscard]] octets make(const protocol::client_keys& keys) const {
        auto state = keys.start.clone();
        octets out = salt;
        state.absorb(salt);
        const auto own = protocol::key_pair_of(ephemeral.clone());
        const auto shown = ephemeral_shown.value_or(own.shared);
        octets opening(shown.begin(), shown.end());
        opening.insert(opening.end(), hello.begin(), hello.end());
        put_box(out, state, opening);
        if (keys.identity) {
            // A zero DH is left out: the server must not come so far.
            static_cast<void>(state.mix(protocol::agree(own, *keys.server)));
            put_box(out, state, copy_of(static_shown.value_or(keys.identity->shared)));
            static_cast<void>(state.mix(protocol::agree(*keys.identity, *keys.server)));
            put_box(out, state, {});
        }
        out.insert(out.end(), pad.begin(), pad.end());
        return out;
    }

    static void put_box(octets& out, protocol::symmetric_state& state, const octets& plaintext) {
        octets box(plaintext.size() + protocol::tag_size);
        state.seal(plaintext, box);
        out.insert(out.end(), box.begin(), box.end());
    }
};

// Message 2 of a server that knows everything and may lie: an answer to `message1` of a client
// with the ephemeral key `client_ephemeral`, in psk or static mode.
struct forged_message2 {
    octets confirmation = octets(16);  // the inside of box F
    std::optional<protocol::public_key> ephemeral_shown = {};
    octets pad = {};

    [[nodiscard]] octets make(const parties& who, const octets& message1) const {
        auto state = who.server.starts[0].clone();
        const protocol::public_key client_ephemeral = follow_message1(who, state, message1);
        octets out(protocol::salt_size, 0x33);
        state.absorb(out);
        const auto own = pair_of(0x66);
        forged_message1::put_box(out, state, copy_of(ephemeral_shown.value_or(own.shared)));
        static_cast<void>(state.mix(protocol::agree(own, client_ephemeral)));
        if (who.server.identity)
            static_cast<void>(state.mix(protocol::agree(own, pair_of(2).shared)));
        forged_message1::put_box(out, state, confirmation);
        out.insert(out.end(), pad.begin(), pad.end());
        return out;
    }

  private:
    // Takes in a message 1 without pad; the client's ephemeral key.
    static protocol::public_key follow_message1(const parties& who,
                                                protocol::symmetric_state& state,
                                                const octets& message1) {
        const crypto::bytes_view all = message1;
        std::array<std::uint8_t, 48> opening{};
        state.absorb(all.first(protocol::salt_size));
        if (!state.open(all.subspan(32, protocol::box_a_size), opening))
            throw std::runtime_error("not a message 1");
        protocol::public_key ephemeral{};
        std::copy_n(opening.begin(), 32, ephemeral.begin());
        if (who.server.identity) follow_static_part(who, state, all, ephemeral);
        state.absorb({});
        return ephemeral;
    }
    static void follow_static_part(const parties& who, protocol::symmetric_state& state,
                                   crypto::bytes_view all, const protocol::public_key& ephemeral) {
        protocol::public_key client{};
        const auto& own = *who.server.identity;
        if (!state.mix(protocol::agree(own, ephemeral)) ||
            !state.open(all.subspan(96, 48), client) || !state.mix(protocol::agree(own, client)) ||
            !state.open(all.subspan(144, 16), {}))
            throw std::runtime_error("not a message 1");
    }
};

}  // namespace culvert::tests
