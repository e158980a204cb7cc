// The property: what an application reads is a prefix of what the other wrote; it is complete
// exactly when a clean end is seen; any other ending is a reset. And a path that destroys nothing
// costs nothing.
#pragma once

#include <optional>
#include <string>

#include "tests/faults/script.hpp"

namespace culvert::faults {

enum class seen_end : std::uint8_t {
    nothing,  // yet
    clean,    // end of file
    reset,
    left,  // it closed its connection itself
    other  // an error that no application should get; `error` tells which
};

// What one of the applications has gone through.
struct end_report {
    std::uint64_t written = 0;  // bytes that its socket took
    bool ended = false;         // it has ended its stream, in good order
    std::uint64_t read = 0;
    std::optional<std::uint64_t>
        first_wrong;  // offset of the first byte that the other never wrote
    seen_end saw = seen_end::nothing;
    std::string error;
};

enum class outcome : std::uint8_t {
    clean,              // both streams were whole
    half,               // one of them was
    reset_in_transfer,  // neither, but bytes had come through
    reset_at_once,      // neither, and nothing had
    left,               // one of the applications left before its end
    violation
};
inline constexpr std::size_t outcomes = 6;

struct verdict {
    faults::outcome outcome = outcome::violation;
    std::string why;  // of a violation
};

// `harmed`: whether the path has done more than to slow the bytes down. Without a service report
// the service was never reached.
verdict judge(const script& what, bool harmed, const end_report& app,
              const std::optional<end_report>& service);

const char* text_of(outcome which) noexcept;

}  // namespace culvert::faults
