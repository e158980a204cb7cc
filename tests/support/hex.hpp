// Hex text to bytes and back, for vectors and messages of failed tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace culvert::tests {

// Throws std::invalid_argument on anything but pairs of hex digits.
std::vector<std::uint8_t> from_hex(std::string_view text);
std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace culvert::tests
