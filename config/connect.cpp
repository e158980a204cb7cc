#include "config/connect.hpp"

#include <algorithm>
#include <cstddef>

#include "config/nearest.hpp"
#include "config/quote.hpp"

namespace culvert::config {
namespace {

constexpr std::string_view scheme_end = "://";
constexpr std::string_view accepted = "tcp://host:port or ws://host:port/path";
constexpr std::size_t longest_path = 1024;

result<carrier> parse_scheme(std::string_view scheme) {
    if (scheme == "tcp") return carrier::tcp;
    if (scheme == "ws") return carrier::websocket;
    return reason{"unknown scheme " + quote(scheme) + did_you_mean(scheme, {"tcp", "ws"}) +
                  " (accepted: " + std::string(accepted) + ")"};
}

}  // namespace

result<uplink> parse_connect(std::string_view text) {
    const std::size_t colon = text.find(scheme_end);
    if (colon == text.npos) return reason{quote(text) + ": write " + std::string(accepted)};
    const result<carrier> scheme = parse_scheme(text.substr(0, colon));
    if (!scheme) return scheme.error();
    text.remove_prefix(colon + scheme_end.size());
    const std::size_t slash = std::min(text.find('/'), text.size());
    result<endpoint> server = parse_host_port(text.substr(0, slash));
    if (!server) return server.error();
    uplink target{std::move(*server), *scheme, "/"};
    if (slash == text.size()) return target;
    if (*scheme == carrier::tcp) return reason{"tcp:// takes no path: write tcp://host:port"};
    result<std::string> path = parse_request_path(text.substr(slash));
    if (!path) return path.error();
    target.path = std::move(*path);
    return target;
}

std::string to_text(const uplink& to) {
    if (to.carrier == carrier::tcp) return "tcp://" + to.place.text();
    return "ws://" + to.place.text() + to.path;
}

result<std::string> parse_request_path(std::string_view text) {
    if (!text.starts_with('/')) return reason{quote(text) + " does not begin with '/'"};
    const auto allowed = [](char c) { return c > ' ' && c <= '~' && c != '#'; };
    if (!std::ranges::all_of(text, allowed)) {
        return reason{quote(text) + " holds a character that has to be percent-encoded"};
    }
    if (text.size() > longest_path) return reason{"the path is longer than 1024 bytes"};
    return {boost::system::in_place_value, text};
}

}  // namespace culvert::config
