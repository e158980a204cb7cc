#include "proxy/protocol/record.hpp"

#include <cassert>

#include "crypto/chacha20.hpp"

namespace culvert::protocol {
namespace {

constexpr std::uint8_t type_bits = 0x0f;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t rekey_bit = 0x80;
constexpr std::size_t headers_per_block = 64 / header_size;

}  // namespace

alert alert_from(std::uint8_t code) noexcept {
    const bool known = code >= static_cast<std::uint8_t>(alert::backend_unreachable) &&
                       code <= static_cast<std::uint8_t>(alert::not_opened);
    return known ? static_cast<alert>(code) : alert::backend_reset;
}

record_header record_header::read(block_view<header_size> clear) noexcept {
    const std::uint32_t word = crypto::load32_le(clear.data());
    return {.type = static_cast<std::uint8_t>(clear[0] & type_bits),
            .rekey = (clear[0] & rekey_bit) != 0,
            .reserved = (clear[0] & reserved_bits) != 0,
            .length = word >> 8};
}

void record_header::write(block<header_size> clear) const noexcept {
    crypto::store32_le(clear.data(), (length << 8) | (rekey ? rekey_bit : 0U) | type);
}

void epoch_cipher::mask(block<header_size> header) noexcept {
    const std::uint64_t number = index_ / headers_per_block;
    if (number != mask_block_) {
        static constexpr std::array<std::uint8_t, 12> zero_nonce{};
        crypto::wipe(masks_.writable());
        crypto::chacha20 stream(keys_->header_key.view(), zero_nonce,
                                static_cast<std::uint32_t>(number));
        [[maybe_unused]] const bool enough = stream.xor_stream(masks_.view(), masks_.writable());
        assert(enough);
        mask_block_ = number;
    }
    const auto mask = masks_.view().subspan((index_ % headers_per_block) * header_size);
    for (std::size_t i = 0; i < header_size; ++i) header[i] ^= mask[i];
}

std::array<std::uint8_t, 12> epoch_cipher::nonce() const noexcept {
    std::array<std::uint8_t, 12> out{};
    crypto::store64_le(out.data() + 4, index_);
    return out;
}

void epoch_cipher::seal(block_view<header_size> header, bytes payload,
                        block<tag_size> tag) const noexcept {
    assert(!exhausted());
    [[maybe_unused]] const bool sealed = crypto::chacha20poly1305::seal(
        keys_->subkey.view(), nonce(), header, payload, payload, tag);
    assert(sealed && "a record is far below the cipher's limit");
}

bool epoch_cipher::open(block_view<header_size> header, bytes payload,
                        crypto::chacha20poly1305::tag_view tag) const noexcept {
    assert(!exhausted());
    return crypto::chacha20poly1305::open(keys_->subkey.view(), nonce(), header, payload, tag,
                                          payload);
}

std::unique_ptr<crypto::chacha20poly1305::decryptor> epoch_cipher::begin_opening(
    block_view<header_size> header) const {
    assert(!exhausted());
    auto cipher =
        std::make_unique<crypto::chacha20poly1305::decryptor>(keys_->subkey.view(), nonce());
    [[maybe_unused]] const auto status = cipher->add_ad(header);
    assert(status == crypto::status::ok);
    return cipher;
}

void epoch_cipher::next_epoch() {
    *keys_ = epoch_keys::of(keys_->next);
    index_ = 0;
    mask_block_ = ~std::uint64_t{0};
    crypto::wipe(masks_.writable());
}

}  // namespace culvert::protocol
