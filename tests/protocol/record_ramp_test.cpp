// How large the next DATA record should be (PROTOCOL.md section 4, "Record size").
#include <doctest/doctest.h>

#include "proxy/protocol/sealer.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;
using namespace std::chrono_literals;

constexpr std::size_t kib = 1'024;
const steady_time start = steady_time{} + 24h;

TEST_CASE("a first record with its overhead fills one TCP segment") {
    record_ramp ramp;
    CHECK(ramp.size(start) == 1'350);
    CHECK(record_ramp::first + record_overhead == 1'370);
}

TEST_CASE("16 KiB after 128 KiB, 64 KiB after 1 MiB") {
    record_ramp ramp;
    ramp.sent(128 * kib - 1, start);
    CHECK(ramp.size(start) == 1'350);
    ramp.sent(1, start);
    CHECK(ramp.size(start) == 16 * kib);
    ramp.sent(896 * kib - 1, start);
    CHECK(ramp.size(start) == 16 * kib);
    ramp.sent(1, start);
    CHECK(ramp.size(start) == 64 * kib);
    ramp.sent(1'000'000 * kib, start);
    CHECK(ramp.size(start) == 64 * kib);
}

TEST_CASE("small again after 1 s without sending, and the climb begins anew") {
    record_ramp ramp;
    ramp.sent(2'048 * kib, start);
    CHECK(ramp.size(start + 1s - 1ns) == 64 * kib);
    CHECK(ramp.size(start + 1s) == 1'350);
    ramp.sent(1'350, start + 1s);
    CHECK(ramp.size(start + 1s) == 1'350);
    ramp.sent(128 * kib, start + 1s);
    CHECK(ramp.size(start + 1s) == 16 * kib);
}

TEST_CASE("sending without pause keeps the size, however long it takes") {
    record_ramp ramp;
    auto now = start;
    for (int i = 0; i < 1'000; ++i, now += 900ms) ramp.sent(2 * kib, now);
    CHECK(ramp.size(now) == 64 * kib);
}

}  // namespace
}  // namespace culvert::tests
