// The bytes that are sent, and the check that exactly these arrive.
#pragma once

#include <cstdint>
#include <optional>

#include "crypto/bytes.hpp"

namespace culvert::load {

using crypto::bytes;
using crypto::bytes_view;

// An endless stream of bytes: a ring of fixed pseudo-random bytes, entered at a place that the seed
// chooses. The ring's length is a prime, so that no buffer size divides it: a run of bytes that is
// lost, doubled or moved shows at its first bytes. Nothing is computed per byte: senders write
// straight from the ring, checkers compare with it.
class pattern {
  public:
    static constexpr std::size_t ring = 131'071;    // bytes
    static constexpr std::size_t window = 262'144;  // bytes, most that at() gives

    explicit pattern(std::uint64_t seed) noexcept;

    // `size` bytes of the stream from `offset` on. Precondition: size <= window.
    [[nodiscard]] bytes_view at(std::uint64_t offset, std::size_t size) const noexcept;

  private:
    std::uint64_t start_;  // place of offset 0, below `ring`
};

// Compares what arrives with a pattern, from its beginning on.
class checker {
  public:
    explicit checker(pattern expected) noexcept : expected_(expected) {}

    // The next bytes; false when one differs, now or earlier.
    bool check(bytes_view next) noexcept;

    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    [[nodiscard]] bool good() const noexcept { return !first_bad_; }
    // Offset of the first byte that differed.
    [[nodiscard]] std::optional<std::uint64_t> first_bad() const noexcept { return first_bad_; }

  private:
    void check_piece(bytes_view piece) noexcept;

    pattern expected_;
    std::uint64_t received_ = 0;
    std::optional<std::uint64_t> first_bad_;
};

}  // namespace culvert::load
