// How a tunnel's end looks from both sides.
#pragma once

#include <doctest/doctest.h>

#include <cerrno>

#include "tests/proxy/tunnels.hpp"

namespace culvert::tests {

// The application was reset, and knows of nothing clean.
inline void check_application_reset(one_tunnel& t, end_reason why) {
    REQUIRE(t.until([&] { return t.application.over() && t.end.done; }));
    CHECK(t.application.error == ECONNRESET);
    CHECK(t.end.is(why));
    CHECK(t.pool.in_use() == 0);
}

inline void check_clean(one_tunnel& t) {
    REQUIRE(t.until([&] { return t.application.over() && t.end.done; }));
    CHECK(t.application.ended);
    CHECK(t.application.error == 0);
    CHECK(t.end.clean());
}

// Both ENDs are through; the carrier is still there.
inline void end_both_ways(one_tunnel& t) {
    t.application.end();
    REQUIRE(t.until([&] { return t.far->got(protocol::record_type::end); }));
    t.far->send(protocol::record_type::end);
}

}  // namespace culvert::tests
