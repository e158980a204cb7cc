// What the check must catch: without these a program that checks nothing would pass too. They are
// skipped unless asked for.
#include <doctest/doctest.h>

#include "proxy/protocol/key_agreement.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {
namespace {

// Volatile, so that the compiler makes neither a constant nor a conditional move of it.
volatile std::uint8_t table[256];
volatile bool noticed;

[[gnu::noinline]] void look_up(std::uint8_t secret) {
    noticed = table[secret] != 0;
}

[[gnu::noinline]] void branch(std::uint8_t secret) {
    if ((secret & 1) != 0) noticed = true;
}

[[gnu::noinline]] bool equal_early_exit(bytes_view a, bytes_view b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

}  // namespace

TEST_SUITE_BEGIN("leaks");

TEST_CASE("index" * doctest::skip()) {
    look_up(concealed(counting(1))[0]);
}

TEST_CASE("branch" * doctest::skip()) {
    branch(concealed(counting(1))[0]);
}

TEST_CASE("comparison" * doctest::skip()) {
    std::uint8_t verdict = equal_early_exit(concealed(counting(16)), counting(16));
    reveal({&verdict, 1});
    CHECK(verdict == 1);
}

// What goes through libcrypto's X25519 is a secret still when it comes out.
TEST_CASE("agreement" * doctest::skip()) {
    const buffer bytes = concealed(counting(32));
    const auto pair = protocol::key_pair_of(protocol::private_key(exactly<32>(bytes)));
    branch(protocol::agree(pair, pair.shared).view()[0]);
}

TEST_SUITE_END();

}  // namespace culvert::tests
