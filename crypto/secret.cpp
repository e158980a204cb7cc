#include "crypto/secret.hpp"

#include <string.h>

namespace culvert::crypto {

void wipe(bytes memory) noexcept {
    if (!memory.empty()) ::explicit_bzero(memory.data(), memory.size());
}

bool equal_constant_time(bytes_view a, bytes_view b) noexcept {
    if (a.size() != b.size()) return false;
    std::uint64_t difference = 0;
    std::size_t i = 0;
    for (; a.size() - i >= 8; i += 8) {
        std::uint64_t word = load64_le(a.data() + i) ^ load64_le(b.data() + i);
        // One word at a time: tags are written so, and a wider read would have to wait for that.
        __asm__("" : "+r"(word));
        difference |= word;
    }
    for (; i < a.size(); ++i) difference |= static_cast<std::uint64_t>(a[i] ^ b[i]);
    // Hides the value, lest the compiler leave the loop early once a difference is certain.
    __asm__ volatile("" : "+r"(difference));
    return difference == 0;
}

}  // namespace culvert::crypto
