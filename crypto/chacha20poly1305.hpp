// AEAD_CHACHA20_POLY1305 (RFC 8439 §2.8): one shot, piecewise, and piecewise with the tag in the
// stream. A key must never see the same nonce twice.
#pragma once

#include "crypto/kernels/aead.hpp"
#include "crypto/secret.hpp"
#include "crypto/status.hpp"

namespace culvert::crypto::chacha20poly1305 {

inline constexpr std::size_t key_size = 32;
inline constexpr std::size_t nonce_size = 12;
inline constexpr std::size_t tag_size = 16;
// Bytes of text under one nonce: the blocks that the 32-bit counter has after block 0.
inline constexpr std::uint64_t max_message = (std::uint64_t{1} << 38) - 64;

using key_view = block_view<key_size>;
using nonce_view = block_view<nonce_size>;
using tag_view = block_view<tag_size>;

// What both directions share: the one-time key, the additional data, the limit, the tag.
// An object that was moved from refuses every byte, and no tag is right for it.
//
// Key stream is made ahead, a run at a time at most, into `stream`. As the text uses it up the
// ciphertext takes its place, so that the authenticator too gets whole runs, whatever the pieces:
//
//     0            48             64                64 + used        64 + end
//     | block 0    | end of the   | ciphertext      | key stream     |
//     |            | additional   |                 |                |
//                    data
//                    ^ or 64: first byte to be authenticated
class message {
  public:
    // The next bytes of the additional data, any number of pieces before the text. Refuses late_ad
    // after the first byte of text.
    status add_ad(bytes_view ad) noexcept;

    // Bytes of text that may still follow.
    [[nodiscard]] std::uint64_t remaining() const noexcept {
        return work_.live ? max_message - work_.text_size : 0;
    }

  protected:
    enum class direction : std::uint8_t { seal, open };
    enum class extent : std::uint8_t { whole, piece };  // whether more text may follow

    message(key_view key, nonce_view nonce, const aead_kernel& kernel) noexcept;
    message(message&& other) noexcept { take(other); }
    message& operator=(message&& other) noexcept;
    ~message() { clear(); }

    // Whether `in` may be turned into as many bytes at `out`. The one place that knows the limit.
    status admit(bytes_view in, bytes_view out) const noexcept;
    // For what was admitted.
    template <direction Direction, extent Extent>
    void process(bytes_view in, std::uint8_t* out) noexcept;
    void open_piece(bytes_view in, std::uint8_t* out) noexcept;
    // False, with a tag of zeros, for an object that was moved from or has ended before.
    bool compute_tag(block<tag_size> tag) noexcept;

  private:
    friend struct message_access;  // the tests': sets text_size

    static constexpr std::size_t text_at = 64;
    static constexpr std::size_t room = text_at + aead_run + 64;

    struct work {
        std::uint64_t ad_size;
        std::uint64_t text_size;
        std::size_t used;                 // bytes of key stream used up, now ciphertext
        std::size_t end;                  // bytes of key stream made
        std::size_t mac_from;             // offset in `stream` of what is not authenticated yet
        std::size_t touched;              // bytes of `stream` that may hold secrets,
        std::size_t open_to;              // but for those between block 0 and here: ciphertext
        std::size_t ad_used;              // bytes in `ad`
        bool live;                        // false once moved from or ended
        bool begun;                       // block 0 has been made
        std::array<std::uint8_t, 16> ad;  // zeros behind
        std::array<std::uint64_t, 2> s;   // added to the accumulator at the end
        aead_state kernel;
    };

    // Makes block 0 and `blocks` more.
    void begin(std::size_t blocks) noexcept;
    void begin_text(std::size_t blocks) noexcept;
    void put_ad(bytes_view ad) noexcept;
    // Authenticates what `stream` holds, whole blocks.
    void authenticate_used() noexcept;
    void make_stream(const std::uint8_t* pending, std::size_t blocks) noexcept;
    template <direction Direction, extent Extent>
    std::size_t go_on(bytes_view in, std::uint8_t* out) noexcept;
    void take(message& other) noexcept;
    void clear() noexcept;

    work work_;
    const aead_kernel* kernel_;
    alignas(64) std::array<std::uint8_t, room> stream_;
};

// One message to encrypt.
class encryptor : public message {
  public:
    encryptor(key_view key, nonce_view nonce,
              const aead_kernel& kernel = best_aead_kernel()) noexcept
        : message(key, nonce, kernel) {}

    // Encrypts in.size() bytes to the front of `out`. Both begin at the same address or are
    // disjoint. Refuses short_output, overlap and data_limit.
    status update(bytes_view in, bytes out) noexcept;

    void finish(block<tag_size> tag) && noexcept;

  private:
    friend bool seal(key_view, nonce_view, bytes_view, bytes_view, bytes, block<tag_size>,
                     const aead_kernel&) noexcept;
};

// One message to decrypt.
class decryptor : public message {
  public:
    decryptor(key_view key, nonce_view nonce,
              const aead_kernel& kernel = best_aead_kernel()) noexcept
        : message(key, nonce, kernel) {}

    // Decrypts in.size() bytes to the front of `out`; the rest as for the encryptor.
    // The plaintext is UNVERIFIED: nobody may act on it, and nothing may be derived from it, before
    // finish() has returned true.
    status update(bytes_view in, bytes out) noexcept;

    // True when the tag is that of the additional data and the text. On false the caller must throw
    // the plaintext away.
    [[nodiscard]] bool finish(tag_view tag) && noexcept;

  private:
    friend class stream_opener;
    friend bool open(key_view, nonce_view, bytes_view, bytes_view, tag_view, bytes,
                     const aead_kernel&) noexcept;
};

struct [[nodiscard]] progress {
    status result;
    std::size_t written;  // bytes of unverified plaintext, 0 unless ok
};

// One message to decrypt whose bytes come as text‖tag in pieces of any size, for callers who learn
// only at the end of the stream which bytes were the tag: the last 16 bytes are held back.
class stream_opener {
  public:
    stream_opener(key_view key, nonce_view nonce,
                  const aead_kernel& kernel = best_aead_kernel()) noexcept
        : message_(key, nonce, kernel) {}

    // As message::add_ad; the first byte given to update() ends the additional data.
    status add_ad(bytes_view ad) noexcept;

    // Decrypts all that is known to be text, which is output_size(in.size()) bytes, UNVERIFIED, to
    // the front of `out`. `in` and the bytes written are disjoint, or the text stays where it came:
    // out.data() + held() == in.data(). Refuses short_output, overlap and data_limit; the call can
    // then be repeated with a better output.
    progress update(bytes_view in, bytes out) noexcept;

    // What the next update writes for `in_size` bytes.
    [[nodiscard]] std::size_t output_size(std::size_t in_size) const noexcept;

    // Bytes held back, 16 at most.
    [[nodiscard]] std::size_t held() const noexcept { return held_size_; }

    // True when the last 16 bytes were the tag; false too when fewer have come.
    [[nodiscard]] bool finish() && noexcept;

  private:
    friend struct message_access;

    status admit(bytes_view in, bytes_view out) const noexcept;
    // Drops the first `released` bytes held and appends `in`.
    void hold(bytes_view in, std::size_t released) noexcept;

    decryptor message_;
    std::array<std::uint8_t, tag_size> held_{};  // ciphertext or tag: not secret
    std::size_t held_size_ = 0;
};

// Encrypts the whole message to the front of `ciphertext`, in place or disjoint. False, with
// nothing written, beyond max_message bytes, for a short output and for a partial overlap.
[[nodiscard]] bool seal(key_view key, nonce_view nonce, bytes_view ad, bytes_view plaintext,
                        bytes ciphertext, block<tag_size> tag,
                        const aead_kernel& kernel = best_aead_kernel()) noexcept;

// Decrypts the whole message to the front of `plaintext`, in place or disjoint. False when the tag
// is wrong and for whatever seal() refuses; then all of `plaintext` is zero.
[[nodiscard]] bool open(key_view key, nonce_view nonce, bytes_view ad, bytes_view ciphertext,
                        tag_view tag, bytes plaintext,
                        const aead_kernel& kernel = best_aead_kernel()) noexcept;

}  // namespace culvert::crypto::chacha20poly1305
