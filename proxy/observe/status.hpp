// How the daemon is, at one moment: what the admin listener answers. STATUS.md says what each
// number means.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proxy/observe/counters.hpp"
#include "proxy/observe/session_report.hpp"

namespace culvert::observe {

struct service_info {
    std::string name;
    std::vector<std::string> targets;
};

// What the configuration says of a section.
struct section_info {
    enum class kind : std::uint8_t { server, client };

    kind what = kind::server;
    std::string name;  // without "server."
    std::string listen;
    std::string carrier;                 // of a server
    std::vector<service_info> services;  // of a server; the first is the default
    std::vector<std::string> connect;    // of a client
    std::string service;                 // of a client
    std::size_t pool = 0;                // of a client

    [[nodiscard]] std::string section() const {
        return (what == kind::server ? "server." : "client.") + name;
    }
};

struct traffic_status {
    std::string name;
    std::uint64_t sessions_total = 0;
    std::uint64_t sessions = 0;
    std::uint64_t to_tunnel = 0;
    std::uint64_t from_tunnel = 0;
};

struct named_count {
    std::string name;
    std::uint64_t count = 0;
};

struct end_count {
    std::string reason;
    bool failed = false;
    std::uint64_t count = 0;
};

struct handshake_status {
    std::uint64_t count = 0;
    double sum_s = 0;
    std::array<std::uint64_t, handshake_counters::ends_s.size()> at_most{};  // of ends_s

    void add(const handshake_status& other) noexcept;
};

struct section_status {
    section_info about;
    std::uint64_t sessions = 0;
    std::uint64_t sessions_total = 0;
    std::uint64_t to_tunnel = 0;
    std::uint64_t from_tunnel = 0;
    std::uint64_t accept_errors_total = 0;
    handshake_status handshake;
    std::vector<end_count> ends;
    std::vector<traffic_status> services;  // that a configuration has named, this one or one before

    // Of a server.
    std::uint64_t connections_total = 0;
    std::uint64_t strangers = 0;
    std::uint64_t strangers_evicted_total = 0;
    std::uint64_t waiting = 0;
    std::vector<named_count> handshakes_failed;
    std::vector<traffic_status> clients;

    // Of a client.
    std::uint64_t pool_ready = 0;
    std::uint64_t pool_failures_total = 0;
};

struct process_status {
    std::uint64_t open_fds = 0;
    std::uint64_t max_fds = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t virtual_bytes = 0;
    double cpu_s = 0;
};

struct status {
    std::string version;
    std::string protocol;
    std::int64_t pid = 0;
    std::chrono::system_clock::time_point started;
    std::chrono::system_clock::time_point now;
    std::chrono::duration<double> uptime{};
    bool ready = false;
    bool draining = false;
    std::size_t threads = 0;
    std::vector<std::pair<std::string, std::string>> kernels;  // primitive, kernel
    process_status process;
    std::uint64_t replay_cache_entries = 0;
    std::vector<section_status> sections;  // in the order of the file
    std::vector<session_report> recent;    // the newest first
};

}  // namespace culvert::observe
