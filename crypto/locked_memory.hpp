// Memory for secrets that stay: locked, so that they reach no swap, left out of core dumps and of
// forks, between guard pages, and wiped when a secret leaves it.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "crypto/bytes.hpp"

namespace culvert::crypto {

namespace locked_memory {

inline constexpr std::size_t slot_size = 96;   // bytes; the largest secret that is kept
inline constexpr std::size_t slot_align = 32;  // bytes

// A zeroed slot. From any thread. Throws std::bad_alloc only when the process gets no more memory:
// where the kernel allows no more to be locked, the slot lies in memory that is not.
[[nodiscard]] void* take();

// Wipes a slot that take() gave, for the next to come.
void give_back(void* slot) noexcept;

// Whether every page so far is locked: RLIMIT_MEMLOCK bounds how many may be.
[[nodiscard]] bool all_locked() noexcept;

// The slot that `address` points to, empty when it points to none: for tests of what is kept.
[[nodiscard]] bytes_view slot_at(const void* address) noexcept;

}  // namespace locked_memory

// Owns a secret in locked memory; empty by default and when moved from. What an empty one points to
// must not be asked.
template <class Secret>
class locked {
    static_assert(sizeof(Secret) <= locked_memory::slot_size);
    static_assert(alignof(Secret) <= locked_memory::slot_align);
    static_assert(std::is_nothrow_move_constructible_v<Secret>);

  public:
    locked() noexcept = default;
    explicit locked(Secret&& from) : secret_(new (locked_memory::take()) Secret(std::move(from))) {}
    locked(locked&& other) noexcept : secret_(std::exchange(other.secret_, nullptr)) {}
    locked& operator=(locked&& other) noexcept {
        locked(std::move(other)).swap(*this);
        return *this;
    }
    ~locked() {
        if (secret_ == nullptr) return;
        secret_->~Secret();
        locked_memory::give_back(secret_);
    }

    Secret& operator*() noexcept { return *secret_; }
    const Secret& operator*() const noexcept { return *secret_; }
    Secret* operator->() noexcept { return secret_; }
    const Secret* operator->() const noexcept { return secret_; }
    explicit operator bool() const noexcept { return secret_ != nullptr; }

  private:
    void swap(locked& other) noexcept { std::swap(secret_, other.secret_); }

    Secret* secret_ = nullptr;
};

}  // namespace culvert::crypto
