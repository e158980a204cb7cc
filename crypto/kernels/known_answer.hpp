// What the known-answer tests of the kernels have in common.
#pragma once

#include "crypto/bytes.hpp"

namespace culvert::crypto::detail {

// Bytes for a message: i·i + i/251 mod 256.
inline void fill_pattern(bytes out) noexcept {
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<std::uint8_t>(i * i + i / 251);
}

// FNV-1a, 64 bits: stands for a long answer, and every byte and its place count.
inline std::uint64_t checksum(bytes_view in) noexcept {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const std::uint8_t byte : in) sum = (sum ^ byte) * 0x100000001b3;
    return sum;
}

}  // namespace culvert::crypto::detail
