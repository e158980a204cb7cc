// CVE-2022-37454 (johanns/sha3 #17) and its 64-bit cousin, open-quantum-safe/liboqs #1312: one
// byte, then 4 GiB − 1 in a single update, overflowed the position in the block. The memory is a
// mapping that was never written: all its pages are the one page of zeros.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include "crypto/shake.hpp"
#include "tests/crypto/testing.hpp"

namespace culvert::tests {
namespace {

constexpr std::size_t four_gib = std::size_t{1} << 32;

class zeros {
  public:
    zeros()
        : memory_(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                         0)) {
        REQUIRE(memory_ != MAP_FAILED);
    }
    zeros(const zeros&) = delete;
    zeros& operator=(const zeros&) = delete;
    ~zeros() { ::munmap(memory_, size); }
    [[nodiscard]] bytes_view first(std::size_t count) const {
        return {static_cast<const std::uint8_t*>(memory_), count};
    }

  private:
    static constexpr std::size_t size = four_gib + 70000;
    void* memory_;
};

}  // namespace

// The answers are libcrypto's (by Python's hashlib), fed in pieces of 1 MiB.
TEST_CASE("one byte and then 4 GiB − 1 in one update, and above 4 GiB") {
    const zeros memory;
    crypto::shake128 state;
    REQUIRE(state.absorb(memory.first(1)));
    REQUIRE(state.absorb(memory.first(four_gib - 1)));
    crypto::shake128 longer = state;
    buffer out(32);
    state.squeeze(out);
    CHECK(to_hex(out) == "cd8fadf8606b58c5fac03376df96fdad0b980b47c96e84d7ef63d3d611774f05");
    REQUIRE(longer.absorb(memory.first(70000)));
    longer.squeeze(out);
    CHECK(to_hex(out) == "4b6da54cc105a52127a0ccef0640c46fd63cc50e9be86dcfb7f4d33f93ed4377");
}

}  // namespace culvert::tests
