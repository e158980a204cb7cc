// A header of the example itself, with the path that one of culvert's has in culvert's own tree.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>

inline void print_hex(std::span<const std::uint8_t> bytes) {
    for (const unsigned byte : bytes) std::printf("%02x", byte);
    std::printf("\n");
}
