// When a PAD is due, and how long a record may take.
#pragma once

#include <chrono>

namespace culvert::relay {

// 80 to 100 % of the setting, drawn anew each time: an exact interval would be a beacon.
[[nodiscard]] std::chrono::steady_clock::duration draw_keepalive(std::chrono::seconds setting);

// Bytes are life, but only while they make whole records: where some were lost on the way, or a
// length was changed, the PADs that follow would fill the record up for hours. At the usual 90 s
// the longest record needs 364 bytes/s.
[[nodiscard]] constexpr std::chrono::seconds time_for_a_record(std::chrono::seconds dead_peer) {
    return 2 * dead_peer;
}

// A uniform duration of 0 … most, in milliseconds.
[[nodiscard]] std::chrono::milliseconds draw_up_to(std::chrono::milliseconds most);

}  // namespace culvert::relay
