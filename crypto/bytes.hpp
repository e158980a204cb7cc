// Spans of bytes and little-endian loads and stores.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace culvert::crypto {

using bytes = std::span<std::uint8_t>;
using bytes_view = std::span<const std::uint8_t>;

// Exactly N bytes: a wrong size does not compile.
template <std::size_t N>
using block = std::span<std::uint8_t, N>;
template <std::size_t N>
using block_view = std::span<const std::uint8_t, N>;

// The characters of a text, which must outlive the view.
inline bytes_view as_bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

namespace detail {
template <class Word>
constexpr Word from_little(Word word) noexcept {
    static_assert(std::endian::native == std::endian::little, "port the loads and stores first");
    return word;
}
template <class Word>
Word load(const std::uint8_t* from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return from_little(word);
}
template <class Word>
void store(std::uint8_t* to, Word word) noexcept {
    word = from_little(word);
    std::memcpy(to, &word, sizeof word);
}
}  // namespace detail

// Unaligned little-endian access; the pointer must have that many bytes behind it.
inline std::uint16_t load16_le(const std::uint8_t* from) noexcept {
    return detail::load<std::uint16_t>(from);
}
inline std::uint32_t load32_le(const std::uint8_t* from) noexcept {
    return detail::load<std::uint32_t>(from);
}
inline std::uint64_t load64_le(const std::uint8_t* from) noexcept {
    return detail::load<std::uint64_t>(from);
}
inline void store16_le(std::uint8_t* to, std::uint16_t word) noexcept {
    detail::store(to, word);
}
inline void store32_le(std::uint8_t* to, std::uint32_t word) noexcept {
    detail::store(to, word);
}
inline void store64_le(std::uint8_t* to, std::uint64_t word) noexcept {
    detail::store(to, word);
}

}  // namespace culvert::crypto
