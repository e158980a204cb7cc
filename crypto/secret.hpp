// Secret bytes: wiped when they end, never printed, compared in constant time.
#pragma once

#include <array>
#include <type_traits>

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

// Working state of a primitive: plain data, wiped when it ends and when it is moved from. A copy is
// a second secret, wiped on its own.
template <class State>
class wiped {
    static_assert(std::is_trivially_copyable_v<State>);

  public:
    wiped() noexcept = default;  // all zero
    wiped(const wiped&) noexcept = default;
    wiped& operator=(const wiped&) noexcept = default;
    wiped(wiped&& other) noexcept : state_(other.state_) { other.clear(); }
    wiped& operator=(wiped&& other) noexcept {
        if (this != &other) {
            state_ = other.state_;
            other.clear();
        }
        return *this;
    }
    ~wiped() { clear(); }

    State& operator*() noexcept { return state_; }
    const State& operator*() const noexcept { return state_; }
    State* operator->() noexcept { return &state_; }
    const State* operator->() const noexcept { return &state_; }

  private:
    void clear() noexcept { wipe({reinterpret_cast<std::uint8_t*>(&state_), sizeof state_}); }

    State state_{};
};

}  // namespace culvert::crypto
