#include "crypto/chacha20poly1305.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace culvert::crypto::chacha20poly1305 {
namespace {

// The text goes through cipher and authenticator in pieces that stay in the first-level cache.
constexpr std::size_t piece_size = 4096;

// Block 0 of the key stream (RFC 8439 §2.6); its second half is not used.
secret<chacha20::block_size> one_time_key(chacha20& cipher) noexcept {
    secret<chacha20::block_size> key;
    [[maybe_unused]] const bool fresh = cipher.keystream(key.writable());
    assert(fresh);
    return key;
}

template <class Function>
void for_each_piece(bytes_view in, bytes out, Function function) noexcept {
    for (std::size_t at = 0; at < in.size(); at += piece_size) {
        const std::size_t size = std::min(piece_size, in.size() - at);
        function(in.subspan(at, size), out.subspan(at, size));
    }
}

}  // namespace

message::message(key_view key, nonce_view nonce, const aead_kernels& kernels) noexcept
    : cipher_(key, nonce, 0, kernels.cipher),
      mac_(one_time_key(cipher_).view().first<poly1305::key_size>(), kernels.mac) {
    so_far_->live = true;
    assert(remaining() == max_message);
}

status message::add_ad(bytes_view ad) noexcept {
    if (text_size() != 0) return status::late_ad;
    mac_.update(ad);
    so_far_->ad_size += ad.size();
    return status::ok;
}

status message::admit(bytes_view in, bytes_view out) const noexcept {
    if (in.size() > remaining()) return status::data_limit;
    if (in.size() > out.size()) return status::short_output;
    if (overlap_partially(in, out.first(in.size()))) return status::overlap;
    return status::ok;
}

void message::begin_text() noexcept {
    if (text_size() == 0) mac_.pad_to_block();
}

void message::apply_cipher(bytes_view in, bytes out) noexcept {
    [[maybe_unused]] const bool admitted = cipher_.xor_stream(in, out);
    assert(admitted);
}

bool message::compute_tag(block<tag_size> tag) noexcept {
    std::fill(tag.begin(), tag.end(), std::uint8_t{0});
    if (!so_far_->live) return false;
    std::array<std::uint8_t, 16> sizes;
    store64_le(sizes.data(), so_far_->ad_size);
    store64_le(sizes.data() + 8, text_size());
    mac_.pad_to_block();
    mac_.update(sizes);
    std::move(mac_).finish(tag);
    so_far_->live = false;
    return true;
}

status encryptor::update(bytes_view in, bytes out) noexcept {
    const status admitted = admit(in, out);
    if (admitted != status::ok || in.empty()) return admitted;
    begin_text();
    for_each_piece(in, out, [this](bytes_view text, bytes to) {
        apply_cipher(text, to);
        authenticate(to);
    });
    return status::ok;
}

void encryptor::finish(block<tag_size> tag) && noexcept {
    [[maybe_unused]] const bool live = compute_tag(tag);
    assert(live);
}

status decryptor::update(bytes_view in, bytes out) noexcept {
    const status admitted = admit(in, out);
    if (admitted != status::ok || in.empty()) return admitted;
    begin_text();
    for_each_piece(in, out, [this](bytes_view text, bytes to) {
        authenticate(text);
        apply_cipher(text, to);
    });
    return status::ok;
}

bool decryptor::finish(tag_view tag) && noexcept {
    std::array<std::uint8_t, tag_size> right;
    return compute_tag(right) && equal_constant_time(right, tag);
}

bool seal(key_view key, nonce_view nonce, bytes_view ad, bytes_view plaintext, bytes ciphertext,
          block<tag_size> tag, const aead_kernels& kernels) noexcept {
    encryptor message(key, nonce, kernels);
    if (message.add_ad(ad) != status::ok) return false;
    if (message.update(plaintext, ciphertext) != status::ok) return false;
    std::move(message).finish(tag);
    return true;
}

bool open(key_view key, nonce_view nonce, bytes_view ad, bytes_view ciphertext, tag_view tag,
          bytes plaintext, const aead_kernels& kernels) noexcept {
    std::array<std::uint8_t, tag_size> given;  // the output may lie over the tag
    std::copy(tag.begin(), tag.end(), given.begin());
    decryptor message(key, nonce, kernels);
    if (message.add_ad(ad) == status::ok && message.update(ciphertext, plaintext) == status::ok &&
        std::move(message).finish(given)) {
        return true;
    }
    wipe(plaintext);
    return false;
}

}  // namespace culvert::crypto::chacha20poly1305
