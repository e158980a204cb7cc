// What there is to say of a session that has ended: for the log, the counters and the status page.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/observe/log.hpp"

namespace culvert::observe {

// Who, and what for.
struct session_facts {
    std::string peer;     // address
    std::string client;   // its name in the server's list; empty without
    std::string service;  // as it was asked for; empty: the default
    std::string carrier;
    bool opened = false;  // a service was asked for
};

struct session_report {
    std::string section;  // "server.edge"
    session_facts who;
    std::uint64_t to_tunnel = 0;  // bytes of the stream
    std::uint64_t from_tunnel = 0;
    std::chrono::duration<double> lasted{};
    std::chrono::system_clock::time_point ended = std::chrono::system_clock::now();
    std::string reason;  // one word of a closed set: "clean", "idle" ...
    std::string detail;  // the reason in words
    bool failed = false;
};

// The line of the log, without time and level.
[[nodiscard]] std::string text_of(const session_report& report);

// Writes the line, to a log of JSON with every fact beside it. Under the limit, if there is one.
void log_session(log_level level, const session_report& report, log_limit* limit = nullptr);

}  // namespace culvert::observe
