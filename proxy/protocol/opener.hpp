// Records to plaintext, in place, from pieces of any size: one direction, one receiver.
#pragma once

#include <memory>

#include "proxy/protocol/error.hpp"
#include "proxy/protocol/record.hpp"
#include "proxy/protocol/sealer.hpp"

namespace culvert::protocol {

// A record whose tag has verified. `payload` lies in the buffer that was fed.
struct opened_record {
    record_type type = record_type::pad;
    bytes payload;
};

class opener {
  public:
    // What one call did: `consumed` bytes of the piece, `records` entries of `out` filled. With a
    // fault the stream is dead; the records before it are good.
    struct progress {
        std::size_t consumed = 0;
        std::size_t records = 0;
        error fault = error::none;
    };

    // A server takes PAD and then one OPEN of the client before anything else, all short.
    opener(epoch_keys keys, role receiver);
    opener(const traffic_secret& secret, role receiver)
        : opener(epoch_keys::of(secret), receiver) {}

    // Takes the next bytes of the stream, decrypting them where they lie: every record that is
    // whole in one go, and of one that is not as much as has come. Precondition: the held() bytes
    // before piece.data() are the unfinished record that earlier calls left there; they may have
    // been moved together in the meantime. Stops early when `out` is full. What has been decrypted
    // but not verified is in no entry of `out`, and is wiped on a fault. An ALERT is the last
    // record: what follows it is consumed and ignored.
    progress feed(bytes piece, std::span<opened_record> out);

    // Bytes of the unfinished record, from its header on.
    [[nodiscard]] std::size_t held() const noexcept { return held_; }

    // How many further bytes would finish the record in hand, as far as is known.
    [[nodiscard]] std::size_t wanted() const noexcept;

    // What the end of the carrier means now: nothing once both directions have ended, else
    // truncation (after END too: what we still had to say can't be delivered any more).
    [[nodiscard]] error at_eof(bool ours_ended) const noexcept;

    // A client says that its OPEN is out: from now on DATA and END may come.
    void open_sent() noexcept { opened_ = true; }

    [[nodiscard]] bool confirmed() const noexcept { return confirmed_; }  // a record verified
    [[nodiscard]] bool opened() const noexcept { return opened_; }        // OPEN came or was sent
    [[nodiscard]] bool ended() const noexcept { return ended_; }          // END verified
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    [[nodiscard]] std::uint64_t index() const noexcept { return cipher_.index(); }

    // For tests of the limit: continues at record `index` of this epoch.
    void skip_to(std::uint64_t index) noexcept { cipher_.skip_to(index); }

  private:
    std::size_t take_header(bytes piece);
    std::size_t take_rest(bytes piece);
    void take_text(bytes record);
    [[nodiscard]] error read_header(block<header_size> head);
    void finish_record(bytes record, bool verified);
    [[nodiscard]] bool awaiting_open() const noexcept {
        return receiver_ == role::server && !opened_;
    }
    [[nodiscard]] error judge(bytes payload);
    [[nodiscard]] error judge_open(bytes name);
    [[nodiscard]] std::size_t end_of_payload() const noexcept {
        return header_size + header_.length;
    }
    [[nodiscard]] std::size_t end_of_record() const noexcept { return end_of_payload() + tag_size; }

    epoch_cipher cipher_;
    const role receiver_;
    // Of a record that has come in part: an idle session is spared its 3 KiB.
    std::unique_ptr<crypto::chacha20poly1305::decryptor> decryptor_;
    record_header header_;
    std::size_t held_ = 0;
    std::uint64_t epoch_ = 0;
    error fault_ = error::none;
    bool confirmed_ = false;
    bool opened_;
    bool ended_ = false;
    bool alerted_ = false;
};

}  // namespace culvert::protocol
