// What the targets of both handshakes share: who takes part, and what is done to a message.
#pragma once

#include <optional>

#include "tests/fuzz/input.hpp"
#include "tests/protocol/forged_handshake.hpp"

namespace culvert::fuzz {

using tests::parties;

// psk, static or static with psk.
inline const parties& choose_parties(input& in) {
    static const std::vector<parties> all = tests::all_parties();
    return all[in.up_to(all.size() - 1)];
}

// A public key that belongs to nobody here: of low order, or the fuzzer's own.
inline protocol::public_key foreign_key(input& in) {
    const auto& weak = tests::low_order_keys();
    if (in.flag()) return in.block<32>();
    auto key = weak[in.up_to(weak.size() - 1)];
    if (in.flag()) key[31] |= 0x80;  // X25519 ignores this bit
    return key;
}

inline bool is_weak(const protocol::public_key& key) {
    static const auto ours = tests::pair_of(0x11);
    return protocol::agree(ours, key).is_zero();
}

// What happened to a message on its way. Bytes before `intact` are as they were sent.
struct damage {
    std::size_t intact;
    std::size_t size;  // of the message that arrives
};

// Flips a bit, cuts, adds, or leaves the message alone.
inline damage tamper_with(input& in, buffer& message) {
    std::size_t intact = message.size();
    switch (in.up_to(5)) {
        case 1: {
            const std::size_t at = in.up_to(message.size() - 1);
            message[at] ^= static_cast<std::uint8_t>(1U << in.up_to(7));
            intact = at;
            break;
        }
        case 2:
            message.resize(in.up_to(message.size()));
            intact = message.size();
            break;
        case 3: {
            const buffer more = in.message(1'100);
            message.insert(message.end(), more.begin(), more.end());
            break;
        }
        default:
            break;
    }
    return {intact, message.size()};
}

}  // namespace culvert::fuzz
