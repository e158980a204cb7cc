#include "bench/pattern.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace culvert::load {
namespace {

// SplitMix64's output function: every bit of the input changes half of the bits of the output.
std::uint64_t scramble(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

// The ring, followed by its own beginning once more: any window lies in one piece.
struct ring_memory {
    std::array<std::uint8_t, pattern::ring + pattern::window> content;

    ring_memory() noexcept {
        for (std::size_t i = 0; i < pattern::ring; ++i)
            content[i] = static_cast<std::uint8_t>(scramble(i / 8) >> (i % 8 * 8));
        for (std::size_t i = pattern::ring; i < content.size(); ++i)
            content[i] = content[i - pattern::ring];
    }
};

const ring_memory& the_ring() noexcept {
    static const ring_memory memory;
    return memory;
}

}  // namespace

pattern::pattern(std::uint64_t seed) noexcept : start_(scramble(seed) % ring) {}

bytes_view pattern::at(std::uint64_t offset, std::size_t size) const noexcept {
    assert(size <= window);
    const std::size_t place = (start_ + offset % ring) % ring;
    return bytes_view(the_ring().content).subspan(place, size);
}

bool checker::check(bytes_view next) noexcept {
    while (!next.empty()) {
        const bytes_view piece = next.first(std::min(next.size(), pattern::window));
        check_piece(piece);
        received_ += piece.size();
        next = next.subspan(piece.size());
    }
    return good();
}

void checker::check_piece(bytes_view piece) noexcept {
    const bytes_view expected = expected_.at(received_, piece.size());
    if (first_bad_ || std::memcmp(piece.data(), expected.data(), piece.size()) == 0) return;
    const auto differs = std::mismatch(piece.begin(), piece.end(), expected.begin()).first;
    first_bad_ = received_ + static_cast<std::uint64_t>(differs - piece.begin());
}

}  // namespace culvert::load
