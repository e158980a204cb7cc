#include "config/endpoint.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>

#include "config/address.hpp"
#include "config/quote.hpp"

namespace culvert::config {
namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::size_t longest_unix_path = sizeof(sockaddr_un{}.sun_path) - 1;
constexpr std::size_t longest_name = 253;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_host_name(std::string_view host) noexcept {
    const auto allowed = [](char c) {
        return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
    };
    return !host.empty() && host.size() <= longest_name && host.front() != '.' &&
           host.find("..") == host.npos && std::ranges::all_of(host, allowed);
}

bool looks_like_ipv4(std::string_view host) noexcept {
    return std::ranges::all_of(host, [](char c) { return is_digit(c) || c == '.'; });
}

result<std::string> parse_host(std::string_view host) {
    if (host.empty()) return reason{"the host is missing: write host:port"};
    if (host == "*") return reason{"'*' is not a host: write 0.0.0.0 or [::]"};
    if (looks_like_ipv4(host) && !is_ipv4(host)) {
        return reason{quote(host) + " is not an IPv4 address"};
    }
    if (!is_host_name(host)) return reason{quote(host) + " is not a host name or address"};
    return {boost::system::in_place_value, host};
}

// [v6]:port; the address may name its scope, as in [fe80::1%eth0]:7700.
result<endpoint> parse_bracketed(std::string_view text) {
    const std::size_t close = text.find(']');
    if (close == text.npos) return reason{"the ']' of " + quote(text) + " is missing"};
    const std::string_view host = text.substr(1, close - 1);
    if (!is_ipv6(host)) return reason{quote(host) + " is not an IPv6 address"};
    const std::string_view after = text.substr(close + 1);
    if (!after.starts_with(':')) return reason{quote(text) + " has no port: write [v6]:port"};
    const result<std::uint16_t> port = parse_port(after.substr(1));
    if (!port) return port.error();
    return endpoint{std::string(host), *port, {}};
}

// Says nothing but a port, well-formed or not: the message should then be about the port.
bool is_port_alone(std::string_view text) noexcept {
    return !text.empty() && (is_digit(text.front()) || text.front() == '-') &&
           text.find_first_of(".:") == text.npos;
}

result<endpoint> parse_unix(std::string_view text, const std::filesystem::path& folder) {
    text.remove_prefix(unix_prefix.size());
    if (text.empty()) return reason{"the path after 'unix:' is missing"};
    std::string path = (folder / text).native();
    if (path.size() > longest_unix_path) {
        return reason{"the path " + quote(path) + " has " + std::to_string(path.size()) +
                      " bytes, a unix socket allows " + std::to_string(longest_unix_path)};
    }
    return endpoint{{}, 0, std::move(path)};
}

}  // namespace

std::string endpoint::text() const {
    if (is_unix()) return std::string(unix_prefix) + unix_path;
    const bool brackets = host.find(':') != host.npos;
    return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

result<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
        return reason{"port " + quote(text) + " is not a number from 1 to 65535"};
    }
    return port;
}

result<endpoint> parse_host_port(std::string_view text) {
    if (text.starts_with('[')) return parse_bracketed(text);
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return reason{quote(text) + " has no port: write host:port"};
    if (text.find(':', colon + 1) != text.npos) {
        return reason{quote(text) + ": an IPv6 address stands in brackets, as in [::1]:7700"};
    }
    result<std::string> host = parse_host(text.substr(0, colon));
    if (!host) return host.error();
    const result<std::uint16_t> port = parse_port(text.substr(colon + 1));
    if (!port) return port.error();
    return endpoint{std::move(*host), *port, {}};
}

result<endpoint> parse_listen(std::string_view text) {
    std::string_view port_text = text;
    if (text.starts_with(':') && text.find(':', 1) == text.npos) port_text.remove_prefix(1);
    if (port_text.size() == text.size() && !is_port_alone(text)) return parse_host_port(text);
    const result<std::uint16_t> port = parse_port(port_text);
    if (!port) return port.error();
    return endpoint{"127.0.0.1", *port, {}};
}

result<endpoint> parse_host_port_or_unix(std::string_view text,
                                         const std::filesystem::path& folder) {
    return text.starts_with(unix_prefix) ? parse_unix(text, folder) : parse_host_port(text);
}

result<endpoint> parse_listen_or_unix(std::string_view text, const std::filesystem::path& folder) {
    return text.starts_with(unix_prefix) ? parse_unix(text, folder) : parse_listen(text);
}

}  // namespace culvert::config
