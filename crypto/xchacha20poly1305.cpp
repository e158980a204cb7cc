#include "crypto/xchacha20poly1305.hpp"

#include <algorithm>

#include "crypto/chacha20.hpp"

namespace culvert::crypto::xchacha20poly1305 {

detail::inner::inner(key_view outer_key, nonce_view outer_nonce) noexcept {
    hchacha20(outer_key, outer_nonce.first<16>(), key.writable());
    std::copy_n(outer_nonce.begin() + 16, 8, nonce.begin() + 4);
}

bool seal(key_view key, nonce_view nonce, bytes_view ad, bytes_view plaintext, bytes ciphertext,
          block<tag_size> tag, const aead_kernel& kernel) noexcept {
    const detail::inner inner(key, nonce);
    return chacha20poly1305::seal(inner.key.view(), inner.nonce, ad, plaintext, ciphertext, tag,
                                  kernel);
}

bool open(key_view key, nonce_view nonce, bytes_view ad, bytes_view ciphertext, tag_view tag,
          bytes plaintext, const aead_kernel& kernel) noexcept {
    const detail::inner inner(key, nonce);
    return chacha20poly1305::open(inner.key.view(), inner.nonce, ad, ciphertext, tag, plaintext,
                                  kernel);
}

}  // namespace culvert::crypto::xchacha20poly1305
