// What a configuration file says, validated: plain structs that the daemon reads and hands down.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/address.hpp"
#include "config/endpoint.hpp"
#include "crypto/secret.hpp"

namespace culvert::config {

using key = crypto::secret<32>;
using public_key = std::array<std::uint8_t, 32>;
using seconds = std::chrono::seconds;

enum class log_level : std::uint8_t { error, warning, info, debug };
enum class log_format : std::uint8_t { text, json };
enum class carrier : std::uint8_t { tcp, websocket };
// How far the daemon confines itself: on leaves what a reload may need, strict nothing but what the
// sections need that it began with.
enum class sandbox : std::uint8_t { off, on, strict };

// As it is written in a file.
constexpr const char* name_of(carrier what) noexcept {
    return what == carrier::tcp ? "tcp" : "ws";
}

// A user of this system, and a group.
struct account {
    std::string name;
    std::uint32_t user = 0;
    std::uint32_t group = 0;
};

struct daemon_settings {
    unsigned threads = 1;
    log_level level = log_level::info;
    config::log_format log_format = config::log_format::text;
    seconds drain{30};                   // how long SIGTERM waits for running sessions
    std::optional<account> user;         // whom the daemon becomes; with the user's own group
    std::optional<std::uint32_t> group;  // instead of that one
    config::sandbox sandbox = sandbox::on;
    endpoint control;  // unix socket for `culvert reload` and for a successor; none by default
    std::optional<endpoint> admin;  // where metrics and the status page are to be had
    bool admin_open = false;        // that place may be one that other hosts reach
};

// What a set of secret keys is known by once they are wiped; good for nothing else.
using key_mark = std::array<std::uint8_t, 32>;

// Keys of one end. At least one of psk, psks and identity is there after validation.
struct credentials {
    std::optional<key> psk;
    std::vector<key> psks;        // server, instead of psk: one for each of its clients, in order
    std::optional<key> identity;  // X25519 private key; present = static mode
    std::string realm;            // 0–255 bytes, psk mode only
    key_mark mark{};              // of all of them; see mark.hpp

    friend bool operator==(const credentials& a, const credentials& b) {
        return a.mark == b.mark && a.realm == b.realm;
    }
};

// What a client may do; by default whatever its section allows.
struct client_rights {
    std::optional<std::vector<std::string>> services;  // those of the section that it may open
    std::optional<std::size_t> connections;            // of its own, at a time
    std::optional<std::uint64_t> rate;                 // bytes/s of all of them, each direction

    friend bool operator==(const client_rights&, const client_rights&) = default;
};

struct named_client {
    std::string name;
    public_key key{};  // static mode; else what its psk is known by, see mark.hpp
    client_rights rights{};
    unsigned line = 0;  // of the list

    friend bool operator==(const named_client& a, const named_client& b) {
        return a.name == b.name && a.key == b.key && a.rights == b.rights;
    }
};

// Which of a service's targets the next connection goes to, among those that are up.
enum class balance : std::uint8_t { round_robin, least_connections, first };
// The PROXY protocol header that goes to a backend in front of the stream.
enum class proxy_header : std::uint8_t { none, v1, v2 };

struct service {
    std::string name;               // [A-Za-z0-9._-]{1,255}
    std::vector<endpoint> targets;  // at least one, each once
    config::balance balance = balance::round_robin;
    std::optional<std::optional<seconds>> idle;  // idle-timeout instead of the section's
    std::optional<std::size_t> connections;      // max-connections at a time
    proxy_header send_proxy = proxy_header::none;
    std::optional<seconds> check;  // how often each target is tried

    friend bool operator==(const service&, const service&) = default;
};

// Whether connections from `proxies` begin with a PROXY protocol header. Required: and others are
// not served.
enum class proxy_protocol : std::uint8_t { off, on, required };

// Limits of a session that both ends have.
struct session_limits {
    seconds handshake{10};           // handshake-timeout; the server adds a uniform 0–10 s
    seconds connect{10};             // connect-timeout: backend at the server, server at the client
    seconds keepalive{25};           // 5–300 s
    seconds dead_peer{90};           // dead-peer
    std::optional<seconds> idle;     // idle-timeout: no stream byte either way; off
    std::optional<seconds> age;      // max-age of a connection; off
    std::size_t connections = 8192;  // max-connections of the section

    friend bool operator==(const session_limits&, const session_limits&) = default;
};

struct server_settings {
    std::string name;  // the part after "server."
    endpoint listen;
    config::carrier carrier = carrier::tcp;
    std::string path = "/";  // WebSocket request target
    credentials keys;
    std::vector<named_client> clients;  // static mode, or the holders of keys.psks
    std::string clients_file;           // the list that they stand in
    std::vector<service> services;      // at least one; the first is the default
    session_limits limits;
    std::optional<seconds> clock_skew{120};  // nullopt = off
    std::size_t unproven = 1024;             // max-unproven
    std::size_t unproven_per_address = 64;   // max-unproven-per-address
    std::vector<address_range> proxies;      // proxy-address: without the per-address cap
    config::proxy_protocol proxy_protocol = proxy_protocol::off;
    std::size_t waiting = 64;   // max-waiting sessions a key
    bool kick_removed = false;  // clients that a reload has removed

    friend bool operator==(const server_settings&, const server_settings&) = default;
};

// A server that a client may reach, and what carries the tunnel there.
struct uplink {
    endpoint place;
    config::carrier carrier = carrier::tcp;
    std::string path = "/";  // WebSocket request target
    unsigned weight = 1;     // its share of the connections, 1–256
    bool backup = false;     // for when none of the others is up

    friend bool operator==(const uplink&, const uplink&) = default;
};

struct client_settings {
    std::string name;
    endpoint listen;
    std::vector<uplink> connect;  // at least one after validation
    std::string service;          // empty = the server's default
    credentials keys;
    public_key server_key{};  // static mode
    session_limits limits;
    std::size_t pool = 0;  // sessions kept ready, over all threads

    friend bool operator==(const client_settings&, const client_settings&) = default;
};

struct settings {
    daemon_settings daemon;
    std::vector<server_settings> servers;
    std::vector<client_settings> clients;
    std::vector<std::filesystem::path> files;  // that they were read from
};

// A section whose secret keys are wiped: once the handshake has its own form of them, they need not
// lie in memory a second time.
template <class Section>
Section without_secrets(Section section) {
    section.keys.psk.reset();
    section.keys.psks.clear();
    section.keys.identity.reset();
    return section;
}

}  // namespace culvert::config
