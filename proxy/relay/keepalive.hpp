// When a PAD is due.
#pragma once

#include <chrono>

namespace culvert::relay {

// 80 to 100 % of the setting, drawn anew each time: an exact interval would be a beacon.
[[nodiscard]] std::chrono::steady_clock::duration draw_keepalive(std::chrono::seconds setting);

// A uniform duration of 0 … most, in milliseconds.
[[nodiscard]] std::chrono::milliseconds draw_up_to(std::chrono::milliseconds most);

}  // namespace culvert::relay
