// One record: its types, its header, its limits, and the cipher of one epoch of one direction
// (PROTOCOL.md section 4).
#pragma once

#include <array>
#include <memory>

#include "crypto/chacha20poly1305.hpp"
#include "proxy/protocol/key_schedule.hpp"

namespace culvert::protocol {

enum class record_type : std::uint8_t { data = 0, end = 1, pad = 2, alert = 3, open = 4 };

enum class alert : std::uint8_t {
    backend_unreachable = 1,
    backend_reset = 2,  // also stands for every unknown code
    timeout = 3,
    shutdown = 4,
    refused = 5,
    not_opened = 6,
};
[[nodiscard]] alert alert_from(std::uint8_t code) noexcept;

inline constexpr std::size_t header_size = 4;
inline constexpr std::size_t record_overhead = header_size + tag_size;
inline constexpr std::size_t max_payload = 65'536;
inline constexpr std::size_t max_service_name = 255;  // also the longest record before OPEN

struct record_header {
    std::uint8_t type = 0;  // low 4 bits of byte 0
    bool rekey = false;     // bit 7 of byte 0
    bool reserved = false;  // one of bits 4–6 is set: an error
    std::uint32_t length = 0;

    static record_header read(block_view<header_size> clear) noexcept;
    void write(block<header_size> clear) const noexcept;
};

// One epoch of one direction: masks headers and makes the cipher of record i. Counts records.
class epoch_cipher {
  public:
    static constexpr std::uint64_t max_records = std::uint64_t{1} << 32;

    explicit epoch_cipher(epoch_keys keys) : keys_(crypto::locked(std::move(keys))) {}
    explicit epoch_cipher(const traffic_secret& secret) : epoch_cipher(epoch_keys::of(secret)) {}

    // Record number i of the next record, 0 … 2^32; at 2^32 no further record may be made.
    [[nodiscard]] std::uint64_t index() const noexcept { return index_; }
    [[nodiscard]] bool exhausted() const noexcept { return index_ == max_records; }

    // Adds or takes away the mask of record index().
    void mask(block<header_size> header) noexcept;

    // Encrypts the payload of record index() in place; `header` is the header in clear.
    void seal(block_view<header_size> header, bytes payload, block<tag_size> tag) const noexcept;

    // Decrypts the payload of record index() in place. False, with the payload zeroed, when the tag
    // is not that of the header in clear and the payload.
    [[nodiscard]] bool open(block_view<header_size> header, bytes payload,
                            crypto::chacha20poly1305::tag_view tag) const noexcept;

    // The cipher that opens record index() in pieces, with the header in clear already taken in.
    [[nodiscard]] std::unique_ptr<crypto::chacha20poly1305::decryptor> begin_opening(
        block_view<header_size> header) const;

    void next_record() noexcept { ++index_; }
    void next_epoch();

    // Begins at record `index` of the epoch: for tests of what happens at the limit.
    void skip_to(std::uint64_t index) noexcept { index_ = index; }

  private:
    [[nodiscard]] std::array<std::uint8_t, 12> nonce() const noexcept;  // 0^4 || u64(index())

    crypto::locked<epoch_keys> keys_;
    std::uint64_t index_ = 0;
    std::uint64_t mask_block_ = ~std::uint64_t{0};  // which block of header stream masks_ holds
    crypto::secret<64> masks_;                      // masks 16 headers
};

}  // namespace culvert::protocol
