// The replay cache: what it knows, how long, what it drops, and that threads may share it.
#include "proxy/protocol/replay_cache.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace culvert::tests {
namespace {

using protocol::replay_cache;
using verdict = replay_cache::verdict;

using salt = std::array<std::uint8_t, 16>;

salt numbered(std::uint64_t number) {
    salt out{};
    crypto::store64_le(out.data() + 3, number);
    return out;
}

constexpr std::uint64_t now = 1'000;
constexpr std::uint64_t later = now + 120;

TEST_CASE("a salt is fresh once") {
    replay_cache cache;
    CHECK(cache.insert(numbered(1), later, now) == verdict::fresh);
    CHECK(cache.insert(numbered(2), later, now) == verdict::fresh);
    CHECK(cache.insert(numbered(1), later, now) == verdict::replayed);
    CHECK(cache.insert(numbered(2), later, now) == verdict::replayed);
    CHECK(cache.size() == 2);
}

TEST_CASE("each byte of a salt counts") {
    replay_cache cache;
    CHECK(cache.insert(salt{}, later, now) == verdict::fresh);
    for (std::size_t i = 0; i < 16; ++i) {
        salt other{};
        other[i] = 0x80;
        CHECK(cache.insert(other, later, now) == verdict::fresh);
        CHECK(cache.insert(other, later, now) == verdict::replayed);
    }
}

TEST_CASE("a salt is known up to and including the second of its expiry") {
    replay_cache cache;
    CHECK(cache.insert(numbered(1), later, now) == verdict::fresh);
    CHECK(cache.insert(numbered(1), later, later) == verdict::replayed);
    CHECK(cache.insert(numbered(1), later + 121, later + 121) == verdict::fresh);
}

TEST_CASE("expired entries make room") {
    replay_cache cache(4);
    for (std::uint64_t i = 0; i < 4; ++i) cache.insert(numbered(i), later, now);
    CHECK(cache.insert(numbered(9), later + 500, later + 121) == verdict::fresh);
    CHECK(cache.size() == 1);
}

TEST_CASE("a full cache drops the first inserted, and says so") {
    replay_cache cache(3);
    for (std::uint64_t i = 0; i < 3; ++i)
        CHECK(cache.insert(numbered(i), later - i, now) == verdict::fresh);
    CHECK(cache.insert(numbered(3), later, now) == verdict::fresh_with_eviction);
    CHECK(cache.size() == 3);
    CHECK(cache.insert(numbered(1), later, now) == verdict::replayed);
    CHECK(cache.insert(numbered(2), later, now) == verdict::replayed);
    CHECK(cache.insert(numbered(3), later, now) == verdict::replayed);
    CHECK(cache.insert(numbered(0), later, now) == verdict::fresh_with_eviction);
    CHECK(cache.insert(numbered(1), later, now) == verdict::fresh_with_eviction);
}

TEST_CASE("a replay in a full cache drops nothing") {
    replay_cache cache(2);
    cache.insert(numbered(0), later, now);
    cache.insert(numbered(1), later, now);
    for (int i = 0; i < 5; ++i) CHECK(cache.insert(numbered(1), later, now) == verdict::replayed);
    CHECK(cache.insert(numbered(0), later, now) == verdict::replayed);
}

TEST_CASE("many more salts than the capacity") {
    replay_cache cache(1'000);
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        REQUIRE(cache.insert(numbered(i), later, now) != verdict::replayed);
        REQUIRE(cache.size() == std::min<std::uint64_t>(i + 1, 1'000));
    }
    for (std::uint64_t i = 9'000; i < 10'000; ++i)
        REQUIRE(cache.insert(numbered(i), later, now) == verdict::replayed);
}

TEST_CASE("of threads that bring the same salt one is told that it is fresh") {
    constexpr std::uint64_t salts = 100'000;
    replay_cache cache;
    std::latch together(4);
    std::atomic<std::uint64_t> fresh{0};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            together.arrive_and_wait();
            for (std::uint64_t i = 0; i < salts; ++i) {
                const auto own_order = numbered((i * 7 + t * 501) % salts);
                if (cache.insert(own_order, later, now) == verdict::fresh) ++fresh;
                if (i % 100 == 0) CHECK(cache.size() <= salts);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(fresh == salts);
    CHECK(cache.size() == salts);
}

// A thread that read the clock before a second passed, and asks after another has asked.
TEST_CASE("a clock reading that is a little late still finds the salt") {
    replay_cache cache;
    CHECK(cache.insert(numbered(1), later, now) == verdict::fresh);
    CHECK(cache.insert(numbered(2), later + 100, later + 1) == verdict::fresh);
    CHECK(cache.insert(numbered(1), later, later) == verdict::replayed);
}

}  // namespace
}  // namespace culvert::tests
