// A status as a daemon tells it.
#pragma once

#include <string>

namespace culvert::watch::testing {

// `more` counts of everything that counts up, `seconds` of uptime.
inline std::string status_text(unsigned more = 0, double seconds = 90'061, int pid = 42) {
    const auto plus = [more](unsigned count) { return std::to_string(count + more); };
    return R"({"schema": 1, "version": "0.1.0", "protocol": "culvert/1", "pid": )" +
           std::to_string(pid) + R"(, "started": 1764500000.5, "uptime_s": )" +
           std::to_string(seconds) +
           R"(, "ready": true, "draining": false, "threads": 2, "process": {"open_fds": 40,
"max_fds": 1024, "resident_bytes": 3145728, "cpu_s": 1.5},
"servers": [{"section": "server.edge", "listen": "0.0.0.0:7700", "carrier": "tcp", "sessions": 3,
 "sessions_total": )" +
           plus(1'200) + R"(, "waiting": 4, "strangers": 1, "handshakes_failed_total": )" +
           plus(9) + R"(, "handshakes_failed": [{"reason": "wrong_key", "count": )" + plus(9) +
           R"(}, {"reason": "replay", "count": 0}], "bytes_from_clients": )" + plus(2'048) +
           R"(, "bytes_to_clients": )" + plus(1'024) + R"(, "services": [
  {"name": "redis", "targets": ["127.0.0.1:6379"], "sessions": 3, "sessions_total": )" +
           plus(1'200) + R"(, "bytes_from_clients": )" + plus(2'048) + R"(, "bytes_to_clients": )" +
           plus(1'024) + R"(},
  {"name": "web", "targets": ["a:1", "b:2"]}]}],
"clients": [{"section": "client.app", "listen": "127.0.0.1:6380", "connect": ["tcp://edge:7700"],
 "service": "", "sessions": 2, "sessions_total": 5, "bytes_to_server": 10, "bytes_from_server": 20,
 "pool_size": 4, "pool_ready": 3}],
"users": [{"server": "edge", "name": "tablet", "sessions": 0},
          {"server": "edge", "name": "laptop\u001b[31m", "sessions": 3, "bytes_to_clients": 7}],
"ends": [{"section": "server.edge", "reason": "clean", "failed": false, "count": 1000},
         {"section": "server.edge", "reason": "backend_unreachable", "failed": true, "count": )" +
           plus(12) + R"(}],
"handshake": {"count": )" +
           plus(100) + R"(, "sum_s": 1, "buckets": [{"le_s": 0.001, "count": 0},
 {"le_s": 0.002, "count": )" +
           plus(100) + R"(}, {"le_s": 0.004, "count": )" + plus(100) + R"(}]},
"recent": [], "something new": [1, 2]})";
}

}  // namespace culvert::watch::testing
