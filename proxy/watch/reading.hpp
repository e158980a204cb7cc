// The status of a daemon as status.json tells it: proxy/observe/STATUS.md says what each field
// means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace culvert::watch {

// Bytes of streams, and sessions: of a section, a service or a client.
struct traffic {
    std::string name;
    std::uint64_t sessions = 0;
    std::uint64_t sessions_total = 0;
    std::uint64_t to_tunnel = 0;
    std::uint64_t from_tunnel = 0;
};

struct service_reading : traffic {
    std::string targets;
};

struct server_reading : traffic {
    std::string listen;
    std::string carrier;
    std::uint64_t waiting = 0;
    std::uint64_t strangers = 0;
    std::vector<service_reading> services;  // the first is the default
};

struct client_reading : traffic {
    std::string listen;
    std::string connect;
    std::string service;
    std::uint64_t pool_size = 0;
    std::uint64_t pool_ready = 0;
};

struct failure_reading {
    std::string section;
    std::string reason;  // in words
    std::uint64_t count = 0;
};

struct histogram_reading {
    struct bucket {
        double at_most;  // seconds
        std::uint64_t count;
    };
    std::uint64_t count = 0;
    std::vector<bucket> buckets;  // each counts those of the ones before it too
};

struct reading {
    std::string version;
    std::string protocol;
    std::uint64_t pid = 0;
    double started = 0;  // Unix seconds
    double uptime = 0;   // seconds
    bool ready = false;
    bool draining = false;
    std::uint64_t threads = 0;
    std::uint64_t open_files = 0;
    std::uint64_t most_files = 0;
    std::uint64_t memory = 0;  // resident bytes
    double cpu = 0;            // seconds
    std::vector<server_reading> servers;
    std::vector<client_reading> clients;
    std::vector<traffic> users;             // named clients
    std::vector<failure_reading> failures;  // those that came at least once, most frequent first
    histogram_reading handshakes;

    traffic all;                        // sections together
    std::uint64_t failed_sessions = 0;  // ever
    std::uint64_t failed_handshakes = 0;
};

// Fields that are not there count as 0 or "". Throws no_answer when it is no status of culvert.
reading read_status(std::string_view json);

}  // namespace culvert::watch
