// Secret bytes: wiped when they end, never printed, compared in constant time.
#pragma once

#include <array>

#include "crypto/bytes.hpp"

namespace culvert::crypto {

// Overwrites with zeros in a way that the compiler may not remove.
void wipe(bytes memory) noexcept;

// True when both hold the same bytes. Takes the same time wherever they differ; sizes are public
// and different sizes are never equal.
[[nodiscard]] bool equal_constant_time(bytes_view a, bytes_view b) noexcept;

// N secret bytes. Moving wipes the source; copying takes an explicit clone().
template <std::size_t N>
class secret {
  public:
    secret() noexcept = default;  // all zero
    explicit secret(block_view<N> from) noexcept { std::memcpy(bytes_.data(), from.data(), N); }
    secret(const secret&) = delete;
    secret& operator=(const secret&) = delete;
    secret(secret&& other) noexcept : bytes_(other.bytes_) { wipe(other.bytes_); }
    secret& operator=(secret&& other) noexcept {
        if (this != &other) {
            bytes_ = other.bytes_;
            wipe(other.bytes_);
        }
        return *this;
    }
    ~secret() { wipe(bytes_); }

    [[nodiscard]] secret clone() const noexcept { return secret(view()); }
    [[nodiscard]] block_view<N> view() const noexcept { return bytes_; }
    [[nodiscard]] block<N> writable() noexcept { return bytes_; }
    [[nodiscard]] bool is_zero() const noexcept {
        static constexpr std::array<std::uint8_t, N> zeros{};
        return equal_constant_time(bytes_, zeros);
    }
    friend bool operator==(const secret& a, const secret& b) noexcept {
        return equal_constant_time(a.bytes_, b.bytes_);
    }

  private:
    std::array<std::uint8_t, N> bytes_{};
};

}  // namespace culvert::crypto
