// A message for the AEAD targets, sealed by the parts of the AEAD and by the portable kernel.
#pragma once

#include <utility>

#include "crypto/chacha20.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/poly1305.hpp"
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
        seal_by_parts();
        buffer whole(text.size());
        std::array<std::uint8_t, 16> whole_tag{};
        require(aead::seal(key, nonce, ad, text, whole, whole_tag, crypto::aead_portable));
        require(whole == sealed && whole_tag == tag);
    }

    std::array<std::uint8_t, 32> key;
    std::array<std::uint8_t, 24> nonce;
    buffer ad, text, sealed;
    std::array<std::uint8_t, 16> tag{};

  private:
    // As the RFC has it (RFC 8439 §2.8, draft-irtf-cfrg-xchacha-03 §2.3): shares no code with what
    // takes runs and pieces.
    void seal_by_parts() {
        std::array<std::uint8_t, 32> inner_key{};
        crypto::hchacha20(key, std::span(nonce).first<16>(), inner_key);
        std::array<std::uint8_t, 12> inner_nonce{};
        std::copy(nonce.begin() + 16, nonce.end(), inner_nonce.begin() + 4);
        crypto::chacha20 stream(inner_key, inner_nonce, 0, crypto::chacha20_portable);
        std::array<std::uint8_t, 64> first{};
        require(stream.keystream(first) && stream.xor_stream(text, sealed));

        const auto mac_key = bytes_view(first).first<32>();
        crypto::poly1305 mac(mac_key, crypto::poly1305_portable);
        std::array<std::uint8_t, 16> sizes{};
        crypto::store64_le(sizes.data(), ad.size());
        crypto::store64_le(sizes.data() + 8, text.size());
        for (const bytes_view part : {bytes_view(ad), bytes_view(sealed), bytes_view(sizes)}) {
            mac.update(part);
            mac.pad_to_block();
        }
        std::move(mac).finish(tag);
    }
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
