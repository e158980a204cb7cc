// Where to listen or connect, and the texts that say so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/reason.hpp"

namespace culvert::config {

// Who may reach a unix socket that we listen on; what is not set is as the system makes it.
struct socket_access {
    std::optional<std::uint32_t> mode;
    std::optional<std::uint32_t> user;
    std::optional<std::uint32_t> group;

    [[nodiscard]] bool is_owned() const noexcept { return user || group; }
    friend bool operator==(const socket_access&, const socket_access&) = default;
};

// A host and port, or the path of a unix socket.
struct endpoint {
    std::string host;        // name, IPv4 or IPv6 address without brackets; empty for a unix socket
    std::uint16_t port = 0;  // 1–65535; 0 for a unix socket
    std::string unix_path;   // empty for host and port
    socket_access access{};  // of a unix socket that we listen on

    [[nodiscard]] bool is_unix() const noexcept { return !unix_path.empty(); }
    [[nodiscard]] bool is_set() const noexcept { return is_unix() || port != 0; }
    [[nodiscard]] std::string text() const;  // host:port, [v6]:port or unix:/path
    friend bool operator==(const endpoint&, const endpoint&) = default;
};

// 1–65535, digits only.
result<std::uint16_t> parse_port(std::string_view text);

// host:port or [v6]:port.
result<endpoint> parse_host_port(std::string_view text);

// The same, or a port alone (7700, :7700), which means 127.0.0.1: whoever wants to be reached from
// outside has to say so.
result<endpoint> parse_listen(std::string_view text);

// The same as each of the two, or unix:PATH. A relative path counts from `folder`.
result<endpoint> parse_host_port_or_unix(std::string_view text,
                                         const std::filesystem::path& folder);
result<endpoint> parse_listen_or_unix(std::string_view text, const std::filesystem::path& folder);

}  // namespace culvert::config
