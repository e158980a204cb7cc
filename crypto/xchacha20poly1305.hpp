// AEAD_XChaCha20_Poly1305 (draft-irtf-cfrg-xchacha-03 §2.3): the nonce has 24 bytes, long enough to
// be drawn at random. The first 16 derive a key for AEAD_CHACHA20_POLY1305, the last 8 are the end
// of its nonce; all else is as there.
#pragma once

#include "crypto/chacha20poly1305.hpp"

namespace culvert::crypto::xchacha20poly1305 {

using chacha20poly1305::key_size;
using chacha20poly1305::key_view;
using chacha20poly1305::max_message;
using chacha20poly1305::progress;
using chacha20poly1305::tag_size;
using chacha20poly1305::tag_view;
inline constexpr std::size_t nonce_size = 24;
using nonce_view = block_view<nonce_size>;

namespace detail {
// The key and nonce of the inner AEAD.
struct inner {
    inner(key_view key, nonce_view nonce) noexcept;
    secret<key_size> key;
    std::array<std::uint8_t, chacha20poly1305::nonce_size> nonce{};
};

// One of the inner AEAD's objects behind the long nonce.
template <class Inner>
class with_long_nonce : public Inner {
  public:
    with_long_nonce(key_view key, nonce_view nonce,
                    const aead_kernel& kernel = best_aead_kernel()) noexcept
        : with_long_nonce(inner(key, nonce), kernel) {}

  private:
    with_long_nonce(const inner& from, const aead_kernel& kernel) noexcept
        : Inner(from.key.view(), from.nonce, kernel) {}
};
}  // namespace detail

using encryptor = detail::with_long_nonce<chacha20poly1305::encryptor>;
using decryptor = detail::with_long_nonce<chacha20poly1305::decryptor>;
using stream_opener = detail::with_long_nonce<chacha20poly1305::stream_opener>;

// As chacha20poly1305::seal.
[[nodiscard]] bool seal(key_view key, nonce_view nonce, bytes_view ad, bytes_view plaintext,
                        bytes ciphertext, block<tag_size> tag,
                        const aead_kernel& kernel = best_aead_kernel()) noexcept;

// As chacha20poly1305::open.
[[nodiscard]] bool open(key_view key, nonce_view nonce, bytes_view ad, bytes_view ciphertext,
                        tag_view tag, bytes plaintext,
                        const aead_kernel& kernel = best_aead_kernel()) noexcept;

}  // namespace culvert::crypto::xchacha20poly1305
