// Which kernels this process uses, for a log line at the start.
#pragma once

#include <array>

#include "crypto/kernels/selection.hpp"

namespace culvert::crypto {

struct kernel_choice {
    const char* primitive;  // "chacha20", "poly1305", "keccak", "chacha20poly1305"
    const char* kernel;     // the name in the table
    kernel_warning warning;
    const char* refused;  // the kernel that the warning is about, "" without one
};

// One entry a primitive. Makes the choices that have not been made yet.
std::array<kernel_choice, 4> kernel_choices() noexcept;

// The warning in words, "" for none.
const char* describe(kernel_warning warning) noexcept;

}  // namespace culvert::crypto
