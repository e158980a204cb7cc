// What a run shall do: the command line, validated.
#pragma once

#include <optional>
#include <string>

#include "bench/units.hpp"
#include "bench/wire.hpp"
#include "config/settings.hpp"

namespace culvert::load {

enum class mode : std::uint8_t { bulk, latency, churn, idle };
enum class direction : std::uint8_t { up, down, both };

[[nodiscard]] const char* text_of(mode of) noexcept;
[[nodiscard]] const char* text_of(direction of) noexcept;

// Where a run goes: a plaintext entry, or through a tunnel that this program is the client of.
struct destination {
    config::endpoint plain;
    std::optional<config::client_settings> tunnel;
    bool raw = false;  // a foreign echo service: no request, no verdict

    [[nodiscard]] std::string text() const;
};

struct plan {
    load::mode mode = mode::bulk;
    destination to;
    load::direction direction = direction::up;  // bulk
    std::uint64_t size = 262'144;               // bytes of a write, or of a request
    std::uint64_t reply_size = 0;               // latency: bytes of an answer
    std::uint64_t bytes = unbounded;            // bulk: of each connection, in one direction
    std::uint64_t rate = 0;                     // latency: requests/s in all; 0 = closed loop
    unsigned connections = 1;
    unsigned threads = 1;
    milliseconds warm_up{0};  // before the duration, and not counted; not in idle
    milliseconds duration{10'000};
    milliseconds grace{10'000};  // for what is under way when the duration is over
    std::string command;         // as it was given
    std::string report;          // the file that the HTML report goes to; empty: none
    bool json = false;
    bool marks = false;  // a line on stderr when what is measured begins, and when it ends
    bool quiet = false;

    // Whether counting begins and ends at a moment, or takes in connecting and closing.
    [[nodiscard]] bool in_part() const noexcept {
        return mode != load::mode::idle && (marks || warm_up.count() > 0);
    }
};

}  // namespace culvert::load
