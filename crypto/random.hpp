// Random bytes from the kernel.
#pragma once

#include "crypto/bytes.hpp"

namespace culvert::crypto {

// Fills `out` from getrandom(2). Ends the process if the kernel has none to give: nothing here
// may go on with predictable bytes.
void fill_random(bytes out) noexcept;

}  // namespace culvert::crypto
