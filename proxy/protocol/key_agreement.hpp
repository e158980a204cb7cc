// X25519 (RFC 7748), a thin adapter on libcrypto.
#pragma once

#include <array>

#include "crypto/locked_memory.hpp"
#include "crypto/secret.hpp"

namespace culvert::protocol {

using public_key = std::array<std::uint8_t, 32>;
using private_key = crypto::secret<32>;
using shared_secret = crypto::secret<32>;

struct key_pair {
    crypto::locked<private_key> secret;
    public_key shared{};
};

// The public key of any 32 bytes: they are clamped as RFC 7748 section 5 says.
[[nodiscard]] public_key public_key_of(const private_key& secret);
[[nodiscard]] key_pair key_pair_of(private_key secret);

// The Diffie-Hellman value. All zero for a peer key of low order: the caller must refuse that. The
// pair is taken at its word: a public half that does not belong to the secret goes unnoticed.
[[nodiscard]] shared_secret agree(const key_pair& ours, const public_key& theirs);

}  // namespace culvert::protocol
