#include "crypto/secret.hpp"

#include <string.h>

namespace culvert::crypto {

void wipe(bytes memory) noexcept {
    if (!memory.empty()) ::explicit_bzero(memory.data(), memory.size());
}

bool equal_constant_time(bytes_view a, bytes_view b) noexcept {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
    // Hides the value, lest the compiler leave the loop early once a difference is certain.
    __asm__ volatile("" : "+r"(difference));
    return difference == 0;
}

}  // namespace culvert::crypto
