// Secrets as valgrind's memcheck sees them: bytes that count as never written. Whatever is computed
// from them counts so too, and a branch or an address that depends on them is an error.
#pragma once

#include "tests/crypto/testing.hpp"

namespace culvert::tests {

// Marks bytes as secret, and as public again. The bytes themselves stay as they are.
void conceal(bytes_view memory);
void reveal(bytes_view memory);

buffer concealed(buffer bytes);
buffer revealed(buffer bytes);

// True when every byte depends on a secret. False without valgrind.
bool is_secret(bytes_view memory);

}  // namespace culvert::tests
