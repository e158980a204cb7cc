#include "crypto/secret.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <utility>

#include "crypto/random.hpp"
#include "tests/crypto/testing.hpp"

namespace culvert::tests {
namespace {

using secret32 = crypto::secret<32>;

bool all_zero(bytes_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

TEST_CASE("wipe leaves zeros and touches nothing beside them") {
    buffer memory = counting(64, 1);
    crypto::wipe(crypto::bytes(memory).subspan(1, 62));
    CHECK(memory.front() == 1);
    CHECK(memory.back() == 64);
    CHECK(all_zero(bytes_view(memory).subspan(1, 62)));
    crypto::wipe({});
}

TEST_CASE("equality sees every single bit and the size") {
    const buffer a = counting(33);
    CHECK(crypto::equal_constant_time(a, counting(33)));
    CHECK(crypto::equal_constant_time({}, {}));
    CHECK_FALSE(crypto::equal_constant_time(a, bytes_view(a).first(32)));
    for (std::size_t bit = 0; bit < 8 * a.size(); ++bit) {
        buffer b = a;
        b[bit / 8] = static_cast<std::uint8_t>(b[bit / 8] ^ (1u << bit % 8));
        CHECK_FALSE(crypto::equal_constant_time(a, b));
    }
}

TEST_CASE("a secret is zero at first, moves by wiping its source, and copies only by clone") {
    static_assert(!std::is_copy_constructible_v<secret32> && !std::is_copy_assignable_v<secret32>);
    CHECK(secret32().is_zero());
    secret32 a(exactly<32>(counting(32, 1)));
    const secret32 copy = a.clone();
    CHECK(copy == a);
    secret32 b = std::move(a);
    CHECK(b == copy);
    CHECK(all_zero(a.view()));  // NOLINT(bugprone-use-after-move)
    a = std::move(b);
    CHECK(a == copy);
    CHECK(all_zero(b.view()));  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("memory of a secret and of working state is zero once it has ended") {
    alignas(secret32) std::array<std::uint8_t, sizeof(secret32)> place{};
    std::destroy_at(new (place.data()) secret32(exactly<32>(counting(32, 1))));
    CHECK(all_zero(place));

    using state = crypto::wiped<std::array<std::uint64_t, 4>>;
    alignas(state) std::array<std::uint8_t, sizeof(state)> other{};
    auto* made = new (other.data()) state;
    (*made)->fill(~std::uint64_t{0});
    state moved = std::move(*made);
    CHECK((*moved)[3] == ~std::uint64_t{0});
    CHECK(all_zero(other));
    (*made)->fill(1);
    std::destroy_at(made);
    CHECK(all_zero(other));
}

TEST_CASE("random bytes fill all of the output and differ from call to call") {
    buffer a(1000), b(1000);
    crypto::fill_random(a);
    crypto::fill_random(b);
    crypto::fill_random({});
    CHECK(a != b);
    for (std::size_t i = 0; i + 20 <= a.size(); ++i) {
        CHECK_FALSE(all_zero(bytes_view(a).subspan(i, 20)));  // 2^-160 each
    }
}

}  // namespace culvert::tests
