// Whether a tag is right is public, and open() branches on it. So the linker sends every call of
// equal_constant_time here (--wrap), where the verdict, and nothing else, is made public. Were it
// not so sent, the tests that open would fail.
#include "crypto/secret.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {

// The names that the linker gives to the function itself and to what stands in its place.
bool itself(bytes_view a, bytes_view b) noexcept __asm__("__real_" CULVERT_VERDICT);
bool in_its_place(bytes_view a, bytes_view b) noexcept __asm__("__wrap_" CULVERT_VERDICT);

bool in_its_place(bytes_view a, bytes_view b) noexcept {
    std::uint8_t verdict = itself(a, b);
    reveal({&verdict, 1});
    return verdict != 0;
}

}  // namespace culvert::tests
