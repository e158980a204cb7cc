// Plaintext to records, in place: one direction, one sender.
#pragma once

#include <chrono>

#include "proxy/protocol/record.hpp"

namespace culvert::protocol {

using steady_time = std::chrono::steady_clock::time_point;

enum class role : std::uint8_t { client, server };

// When the sender begins a new epoch, and after how many records it must.
struct epoch_limits {
    std::uint64_t bytes = std::uint64_t{1} << 30;  // of payload
    std::chrono::steady_clock::duration time = std::chrono::seconds{120};
};

class sealer {
  public:
    // The first epoch begins at `now`. A client must send OPEN before DATA, END and a PAD
    // of more than 255 bytes.
    sealer(epoch_keys keys, role sender, steady_time now, epoch_limits limits = {});
    sealer(const traffic_secret& secret, role sender, steady_time now, epoch_limits limits = {})
        : sealer(epoch_keys::of(secret), sender, now, limits) {}

    // Seals `slot` = header 4 || payload || tag 16, where the payload stands already: writes the
    // masked header and the tag, encrypts the payload in place. The order of types is the
    // caller's duty (PROTOCOL.md section 7, "local"): breaking it is a programming error.
    void seal(record_type type, bytes slot, steady_time now);

    // Seals `run`, slots one behind the other, as DATA: all of them hold `payload` bytes but the
    // last, which may hold fewer. The run is not empty, and its last slot holds at least one byte.
    void seal_data(bytes run, std::size_t payload, steady_time now);

    // The next record carries the REKEY flag, whatever the limits say.
    void rekey_with_next() noexcept { rekey_wanted_ = true; }

    [[nodiscard]] bool ended() const noexcept { return ended_; }    // END was sealed
    [[nodiscard]] bool opened() const noexcept { return opened_; }  // may send DATA and END
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    // For tests of the limit: continues at record `index` of this epoch.
    void skip_to(std::uint64_t index) noexcept { cipher_.skip_to(index); }

  private:
    [[nodiscard]] bool rekey_due(record_type type, std::size_t length, steady_time now) const;
    void check_order(record_type type, std::size_t length);

    epoch_cipher cipher_;
    const epoch_limits limits_;
    steady_time epoch_began_;
    std::uint64_t epoch_bytes_ = 0;
    std::uint64_t epoch_ = 0;
    bool opened_;
    bool ended_ = false;
    bool alerted_ = false;
    bool rekey_wanted_ = false;
};

// How much payload the next DATA record should hold: small at first, so that the first bytes are
// released early, large in bulk; small again after a pause.
class record_ramp {
  public:
    static constexpr std::size_t first = 1'350;  // with its overhead, one TCP segment
    static constexpr std::size_t middle = 16'384;
    static constexpr std::size_t last = max_payload;

    [[nodiscard]] std::size_t size(steady_time now) noexcept;
    void sent(std::size_t payload, steady_time now) noexcept;

  private:
    std::uint64_t bytes_ = 0;  // since the last pause
    steady_time last_sent_{};
};

}  // namespace culvert::protocol
