// What the tests of the primitives share: messages, random choices, guarded memory, kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/bytes.hpp"
#include "tests/support/hex.hpp"

namespace culvert::tests {

using crypto::block_view;
using crypto::bytes_view;
using buffer = std::vector<std::uint8_t>;
using sizes = std::initializer_list<std::size_t>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

#if defined(CULVERT_EMULATED)
inline constexpr bool emulated = true;
#else
inline constexpr bool emulated = false;
#endif
// What is computed takes 10 to 50 times as long as in a plain build.
inline constexpr bool slowed = sanitized || emulated;

// For exhaustive loops: every step in a plain build, every `slowed_step`-th in a slow one.
constexpr std::size_t stride(std::size_t slowed_step) {
    return slowed ? slowed_step : 1;
}

// Byte i is (first + i) mod 256.
buffer counting(std::size_t size, std::size_t first = 0);
// Byte i is i mod 251, as in the generated vectors.
buffer pattern_251(std::size_t size);
// The text itself.
buffer text(std::string_view characters);
buffer joined(bytes_view a, bytes_view b);

// Where the bytes are, never null: some C functions take no null pointer, not even for no bytes.
inline const std::uint8_t* address(bytes_view bytes) {
    static constexpr std::uint8_t nowhere = 0;
    return bytes.empty() ? &nowhere : bytes.data();
}
inline std::uint8_t* address(buffer& bytes) {
    static std::uint8_t nowhere = 0;
    return bytes.empty() ? &nowhere : bytes.data();
}

// Exactly N bytes of a vector; throws std::length_error when it has another size.
template <std::size_t N>
block_view<N> exactly(bytes_view from) {
    if (from.size() != N) throw std::length_error("expected " + std::to_string(N) + " bytes");
    return from.first<N>();
}

// Where to cut a message in two: at every offset up to 4 KiB (of messages above 256 KiB: up to
// 256 bytes; when emulated: every seventh), and at 64 random ones beyond.
std::vector<std::size_t> cuts(std::size_t size);

// Random choices. The seed is printed; CULVERT_TEST_SEED repeats a run.
class random_source {
  public:
    random_source();
    std::size_t below(std::size_t limit);
    buffer bytes(std::size_t size);
    // Sizes that add up to `total`, among them 0 and the sizes around the blocks of all primitives.
    std::vector<std::size_t> partition(std::size_t total);

  private:
    std::mt19937_64 engine_;
};

// Memory that ends right before a page that must not be touched.
class guarded_buffer {
  public:
    explicit guarded_buffer(std::size_t size);
    explicit guarded_buffer(bytes_view content);
    guarded_buffer(const guarded_buffer&) = delete;
    guarded_buffer& operator=(const guarded_buffer&) = delete;
    ~guarded_buffer();

    [[nodiscard]] crypto::bytes span() const {
        return {memory_ + mapped_ - guard() - size_, size_};
    }

  private:
    static std::size_t guard();

    std::size_t size_;
    std::size_t mapped_;
    std::uint8_t* memory_;
};

// The kernels of a table that this CPU runs.
template <class Kernel>
std::vector<const Kernel*> runnable(std::span<const Kernel> table) {
    std::vector<const Kernel*> result;
    for (const Kernel& kernel : table) {
        if (kernel.supported()) result.push_back(&kernel);
    }
    return result;
}

}  // namespace culvert::tests
