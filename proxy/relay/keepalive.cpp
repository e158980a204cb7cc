#include "proxy/relay/keepalive.hpp"

#include <array>

#include "crypto/random.hpp"

namespace culvert::relay {

std::chrono::milliseconds draw_up_to(std::chrono::milliseconds most) {
    std::array<std::uint8_t, 8> random;
    crypto::fill_random(random);
    // Spans here are minutes at most: the bias of the remainder is below 2^-40.
    const auto choices = static_cast<std::uint64_t>(most.count()) + 1;
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(crypto::load64_le(random.data()) % choices));
}

std::chrono::steady_clock::duration draw_keepalive(std::chrono::seconds setting) {
    const std::chrono::milliseconds most(setting);
    return most - draw_up_to(most / 5);
}

}  // namespace culvert::relay
