// The sending side of one session: seals records and writes them, one run at a time.
#pragma once

#include "proxy/carrier/carrier.hpp"
#include "proxy/carrier/turn.hpp"
#include "proxy/protocol/sealer.hpp"
#include "proxy/relay/session_end.hpp"

namespace culvert::relay {

using carrier::awaitable;
using carrier::bytes;
using carrier::bytes_view;
using carrier::clock;
using carrier::error_code;
using carrier::executor;
using carrier::time_point;

// Records must leave in the order in which they were sealed. So whoever sends takes the turn
// first, seals, writes, and gives it back.
class record_writer {
  public:
    record_writer(const executor& ex, std::unique_ptr<carrier::carrier> to, protocol::sealer sealer)
        : executor_(ex), turn_(ex), carrier_(std::move(to)), sealer_(std::move(sealer)) {}

    [[nodiscard]] awaitable<carrier::turn::holder> take_turn() { return turn_.take(); }

    // With the turn: seals one slot = header 4 || payload || tag 16 in place.
    void seal(protocol::record_type type, bytes slot) { sealer_.seal(type, slot, clock::now()); }

    // With the turn: writes sealed slots that lie behind each other. Throws session_end.
    awaitable<void> write(bytes run);

    // Takes the turn, seals and writes one short record: at most 255 bytes of payload. Throws
    // session_end.
    awaitable<void> send(protocol::record_type type, bytes_view payload = {});

    // True when a small record would neither wait for the turn nor for the kernel.
    [[nodiscard]] bool idle() noexcept { return !turn_.taken() && carrier_->writable(); }

    // False once a write has failed or was cut short: no record may follow on this connection.
    [[nodiscard]] bool usable() const noexcept { return usable_ && !turn_.taken(); }

    [[nodiscard]] bool ended() const noexcept { return sealer_.ended(); }
    [[nodiscard]] time_point last_sent() const noexcept { return last_sent_; }
    [[nodiscard]] carrier::carrier& to() noexcept { return *carrier_; }
    [[nodiscard]] const executor& get_executor() const noexcept { return executor_; }

  private:
    executor executor_;
    carrier::turn turn_;
    std::unique_ptr<carrier::carrier> carrier_;
    protocol::sealer sealer_;
    time_point last_sent_ = clock::now();
    bool usable_ = true;
};

}  // namespace culvert::relay
