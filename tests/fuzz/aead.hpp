// A message for the AEAD targets, sealed in one call by the portable kernel.
#pragma once

#include "crypto/kernels/portable.hpp"
#include "crypto/xchacha20poly1305.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {

namespace aead = crypto::xchacha20poly1305;
using crypto::status;

struct sealed_message {
    explicit sealed_message(input& in)
        : key(in.block<32>()),
          nonce(in.block<24>()),
          ad(in.message(300)),
          text(in.message(9'000)),
          sealed(text.size()) {
        require(aead::seal(key, nonce, ad, text, sealed, tag, crypto::aead_portable));
    }

    std::array<std::uint8_t, 32> key;
    std::array<std::uint8_t, 24> nonce;
    buffer ad, text, sealed;
    std::array<std::uint8_t, 16> tag{};
};

// Flips one bit, or none; true when one was flipped.
inline bool tamper(input& in, crypto::bytes with) {
    if (with.empty() || in.flag()) return false;
    const std::size_t bit = in.up_to(8 * with.size() - 1);
    with[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    return true;
}

template <class Object>
void add_ad(input& in, Object& object, bytes_view ad) {
    in.in_pieces(ad, [&](const buffer& piece) { require(object.add_ad(piece) == status::ok); });
}

}  // namespace culvert::fuzz
