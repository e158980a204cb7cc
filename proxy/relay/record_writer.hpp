// The sending side of one session: seals records and writes them, one run at a time.
#pragma once

#include <array>

#include "proxy/carrier/carrier.hpp"
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

// Records must leave in the order in which they were sealed: whoever seals begins a write at once,
// and nobody seals while writing().
class record_writer {
  public:
    record_writer(std::unique_ptr<carrier::carrier> to, protocol::sealer sealer)
        : carrier_(std::move(to)), sealer_(std::move(sealer)) {}

    // Seals `run`, slots of `payload` bytes each but the last, which may hold fewer, as DATA and
    // begins to write it. It stays where it is until writing() is over.
    void begin_data(bytes run, std::size_t payload);
    // The same in two steps, for other records: seals one slot, and begins to write slots that lie
    // one behind the other.
    void seal(protocol::record_type type, bytes slot) { sealer_.seal(type, slot, clock::now()); }
    void begin(bytes run);
    // The same with one record without payload: END or PAD.
    void begin_empty(protocol::record_type type);

    // Never waits: true when the run is out; false: call again when the carrier's socket is
    // writable. Throws session_end.
    bool flush();

    // flush, but waits.
    awaitable<void> write_rest();

    [[nodiscard]] bool writing() const noexcept { return carrier_->writing(); }

    // Seals one record of at most 255 bytes of payload and writes it. Throws session_end.
    awaitable<void> send(protocol::record_type type, bytes_view payload = {});

    // True when a small record would neither wait for another write nor for the kernel.
    [[nodiscard]] bool idle() noexcept { return !writing() && carrier_->writable(); }

    // False while a run is not wholly out, also when that was given up: no record may follow on
    // this connection.
    [[nodiscard]] bool usable() const noexcept { return !unfinished_; }

    [[nodiscard]] bool ended() const noexcept { return sealer_.ended(); }
    [[nodiscard]] time_point last_sent() const noexcept { return last_sent_; }
    [[nodiscard]] carrier::carrier& to() noexcept { return *carrier_; }
    [[nodiscard]] executor get_executor() { return carrier_->socket().get_executor(); }

  private:
    std::unique_ptr<carrier::carrier> carrier_;
    protocol::sealer sealer_;
    time_point last_sent_ = clock::now();
    bool unfinished_ = false;
    std::array<std::uint8_t, protocol::record_overhead> empty_record_{};
};

}  // namespace culvert::relay
