#include "bench/pattern.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <vector>

using namespace culvert::load;

namespace {

std::vector<std::uint8_t> stream_of(std::uint64_t seed, std::size_t size) {
    const pattern from(seed);
    std::vector<std::uint8_t> out(size);
    for (std::size_t at = 0; at < size; at += pattern::window) {
        const auto piece = from.at(at, std::min(size - at, pattern::window));
        std::ranges::copy(piece, out.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return out;
}

std::vector<std::uint8_t> joined(bytes_view first, bytes_view second) {
    std::vector<std::uint8_t> out(first.size() + second.size());
    std::ranges::copy(second, std::ranges::copy(first, out.begin()).out);
    return out;
}

// Checks `content` in pieces of `piece` bytes.
std::optional<std::uint64_t> first_bad(std::uint64_t seed, bytes_view content, std::size_t piece) {
    checker check{pattern(seed)};
    for (std::size_t at = 0; at < content.size(); at += piece)
        check.check(content.subspan(at, std::min(piece, content.size() - at)));
    CHECK(check.received() == content.size());
    return check.first_bad();
}

constexpr std::size_t size = 3 * pattern::ring + 1'234;
constexpr std::size_t pieces[] = {1, 17, 4'096, 65'536, pattern::ring, 1'000'000};

}  // namespace

TEST_SUITE("bench.pattern") {
    TEST_CASE("a stream passes its own check, in pieces of any size") {
        for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}})
            for (const std::size_t piece : pieces)
                CHECK(!first_bad(seed, stream_of(seed, size), piece));
    }

    TEST_CASE("one changed bit is found, with its place") {
        const auto good = stream_of(1, size);
        std::mt19937 generator(5);
        for (int i = 0; i < 200; ++i) {
            const std::size_t at = i == 0 ? 0 : i == 1 ? size - 1 : generator() % size;
            auto changed = good;
            changed[at] ^= static_cast<std::uint8_t>(1U << (i % 8));
            CHECK(first_bad(1, changed, 65'536) == at);
        }
    }

    TEST_CASE("lost and doubled bytes are found near their place") {
        const auto good = stream_of(2, size);
        for (const std::size_t count : {1U, 8U, 1'460U, 4'096U, 65'536U, 131'072U, 262'144U}) {
            CAPTURE(count);
            const bytes_view all(good);
            const auto lost = joined(all.first(1'000), all.subspan(1'000 + count));
            REQUIRE(first_bad(2, lost, 4'096));
            CHECK(*first_bad(2, lost, 4'096) < 1'000 + 16);

            const auto doubled = joined(all.first(1'000 + count), all.subspan(1'000));
            REQUIRE(first_bad(2, doubled, 4'096));
            CHECK(*first_bad(2, doubled, 4'096) < 1'000 + count + 16);
        }
    }

    TEST_CASE("the stream of another connection is found out") {
        const auto other = stream_of(11, 4'096);
        for (std::uint64_t seed = 12; seed < 500; ++seed) REQUIRE(first_bad(seed, other, 4'096));
    }

    TEST_CASE("every byte value occurs about equally often") {
        std::vector<int> counts(256);
        for (const auto byte : stream_of(3, pattern::ring)) ++counts[byte];
        const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        CHECK(*least > 400);  // 512 on average
        CHECK(*most < 624);
    }
}
