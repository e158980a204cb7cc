// What a configuration file says, validated: plain structs that the daemon reads and hands down.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/secret.hpp"

namespace culvert::config {

using key = crypto::secret<32>;
using public_key = std::array<std::uint8_t, 32>;
using seconds = std::chrono::seconds;

// Where to listen or connect: a host and port, or the path of a unix socket.
struct endpoint {
    std::string host;         // name, IPv4 or IPv6 address without brackets; empty for a unix socket
    std::uint16_t port = 0;   // 1–65535; 0 for a unix socket
    std::string unix_path;    // empty for host and port

    [[nodiscard]] bool is_unix() const noexcept { return !unix_path.empty(); }
    [[nodiscard]] std::string text() const;  // host:port, [v6]:port or unix:/path
};

enum class log_level : std::uint8_t { error, warning, info, debug };
enum class carrier : std::uint8_t { tcp, websocket };

struct daemon_settings {
    unsigned threads = 1;
    log_level level = log_level::info;
    seconds drain{30};  // how long SIGTERM waits for running sessions
};

// Keys of one end. At least one of psk and identity is there after validation.
struct credentials {
    std::optional<key> psk;
    std::optional<key> identity;  // X25519 private key; present = static mode
    std::string realm;            // 0–255 bytes, psk mode only
};

struct named_client {
    std::string name;
    public_key key;
};

struct service {
    std::string name;  // [A-Za-z0-9._-]{1,255}
    endpoint target;
};

// Limits of a session that both ends have.
struct session_limits {
    seconds handshake{10};                 // handshake-timeout; the server adds a uniform 0–10 s
    seconds connect{10};                   // connect-timeout: backend at the server, server at the client
    seconds keepalive{25};                 // 5–300 s
    seconds dead_peer{90};                 // dead-peer
    std::optional<seconds> idle;           // idle-timeout: no stream byte either way; off
    std::optional<seconds> age;            // max-age of a connection; off
    std::size_t connections = 8192;        // max-connections of the section
};

struct server_settings {
    std::string name;  // the part after "server."
    unsigned line = 0;
    endpoint listen;
    config::carrier carrier = carrier::tcp;
    std::string path = "/";  // WebSocket request target
    credentials keys;
    std::vector<named_client> clients;  // static mode
    std::vector<service> services;      // at least one; the first is the default
    session_limits limits;
    std::optional<seconds> clock_skew{120};       // nullopt = off
    std::size_t unproven = 1024;                  // max-unproven
    std::size_t unproven_per_address = 64;        // max-unproven-per-address
    std::vector<std::string> proxies;             // proxy-address: addresses without the per-address cap
    std::size_t waiting = 64;                     // max-waiting sessions a key
};

struct client_settings {
    std::string name;
    unsigned line = 0;
    endpoint listen;
    endpoint connect;
    config::carrier carrier = carrier::tcp;
    std::string path = "/";
    std::string service;  // empty = the server's default
    credentials keys;
    public_key server_key{};  // static mode
    session_limits limits;
};

struct settings {
    daemon_settings daemon;
    std::vector<server_settings> servers;
    std::vector<client_settings> clients;
};

}  // namespace culvert::config
