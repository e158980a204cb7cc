// H, KDF, the handshake's running state and the keys of an epoch: everything that cSHAKE256 and
// KMAC256 do for culvert/1 (PROTOCOL.md sections 2 and 4).
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "proxy/protocol/key_agreement.hpp"

namespace culvert::protocol {

using crypto::block;
using crypto::block_view;
using crypto::bytes;
using crypto::bytes_view;
using chain_key = crypto::secret<32>;
using traffic_secret = crypto::secret<32>;
using transcript_hash = std::array<std::uint8_t, 64>;

inline constexpr std::size_t tag_size = 16;
inline constexpr std::size_t salt_size = 32;

enum class mode : std::uint8_t { psk, static_keys };

// The labels of KDF; each stands for the customisation "culvert/1 " || name.
enum class label : std::uint8_t { init, mix, box, c2s, s2c, epoch };

// H(first || second), without joining them.
[[nodiscard]] transcript_hash hash(bytes_view first, bytes_view second = {});

// KDF(key, input, out.size(), label).
void derive(block_view<32> key, bytes_view input, label l, bytes out);

// What is computed for both directions at once.
template <class Value>
struct both_directions {
    Value c2s;
    Value s2c;
};

// The running h and ck of one handshake.
class symmetric_state {
  public:
    // The state before message 1. `psk` null stands for 32 zero bytes (static mode without psk);
    // `responder` is the realm in psk mode, the server's static public key in static mode. A
    // constant of a listener: compute once and clone().
    static symmetric_state start(mode m, const crypto::secret<32>* psk, bytes_view responder);

    [[nodiscard]] symmetric_state clone() const { return {hash_, chain_->clone()}; }

    void absorb(bytes_view data);

    // False when `z` is all zero: the handshake must end.
    [[nodiscard]] bool mix(const shared_secret& z);

    // box = AEAD(plaintext) under the one-time key of this point, then absorbed. `box` holds
    // plaintext.size() + tag_size bytes and does not overlap `plaintext`.
    void seal(bytes_view plaintext, bytes box);

    // The reverse. False, with `plaintext` zeroed and the state unchanged, when the tag is wrong.
    [[nodiscard]] bool open(bytes_view box, bytes plaintext);

    // The state that absorbs `salt` and then opens `box`; nullopt when the tag is wrong. Nothing is
    // kept for whoever gets that far and no further.
    [[nodiscard]] std::optional<symmetric_state> after_opening(bytes_view salt, bytes_view box,
                                                               bytes plaintext) const;

    // The secrets of the two directions.
    [[nodiscard]] both_directions<traffic_secret> split() const;

    // h: after the handshake, the channel binding.
    [[nodiscard]] const transcript_hash& transcript() const noexcept { return hash_; }
    [[nodiscard]] const chain_key& chain() const noexcept { return *chain_; }

  private:
    symmetric_state(const transcript_hash& h, chain_key ck) : hash_(h), chain_(std::move(ck)) {}
    // The box key of the point where the transcript is `h`.
    [[nodiscard]] crypto::secret<32> box_key(const transcript_hash& h) const;
    [[nodiscard]] bool open_at(const transcript_hash& h, bytes_view box, bytes plaintext) const;

    transcript_hash hash_{};
    crypto::locked<chain_key> chain_;
};

// What one direction uses during one epoch.
struct epoch_keys {
    crypto::secret<32> subkey;      // HChaCha20(key, prefix)
    crypto::secret<32> header_key;  // masks the record headers
    traffic_secret next;            // the next epoch's secret

    static epoch_keys of(const traffic_secret& secret);
    // The same for both directions, for hardly more than the price of one.
    static both_directions<epoch_keys> of(const traffic_secret& c2s, const traffic_secret& s2c);

  private:
    static epoch_keys from(const crypto::secret<112>& material);
};

}  // namespace culvert::protocol
