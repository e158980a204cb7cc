#include "config/check.hpp"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <filesystem>
#include <optional>

#include "config/values.hpp"

namespace culvert::config {
namespace {

struct side {
    const credentials& keys;
    const session_limits& limits;
    const section_place& place;
    report& found;
    const char* peer_key;  // where this end names its peers in static mode

    void error(std::string_view key, std::string text) const {
        found.error(place.line_of(key), std::move(text));
    }
};

void check_keys(const side& side) {
    const bool is_static = side.place.has("identity");
    const bool has_psk = side.place.has("psk") || side.place.has("psks");
    const std::string peer_key = side.peer_key;
    if (!is_static && !has_psk) {
        side.error("", "no key: " + side.place.heading + " needs psk = FILE or identity = FILE");
    }
    if (is_static && !side.place.has(peer_key)) {
        side.error("identity", "identity needs " + peer_key + " beside it, to know the other end");
    }
    if (!is_static && side.place.has(peer_key)) {
        side.error(peer_key, peer_key + " needs identity = FILE beside it");
    }
    if (is_static && side.place.has("realm")) {
        side.error("realm", "realm is for psk alone: with identity, the keys tell servers apart");
    }
}

// A list of psks stands for the one psk, and for the list of clients.
void check_psks(const side& side) {
    if (!side.place.has("psks")) return;
    if (side.place.has("psk")) {
        side.error("psks",
                   "psks stands in the place of psk: add that one to the list, with a name");
    }
    if (side.place.has("identity")) {
        side.error("psks",
                   "psks is not for identity: its clients are named by their keys, in clients");
    }
}

// Services that a client may use and that do not exist.
void check_rights(const server_settings& server, const section_place& place, report& found) {
    if (!place.keys.contains("service") || place.refused.contains("service")) return;
    std::vector<std::string> known;
    for (const service& one : server.services) known.push_back(one.name);
    report mistakes(server.clients_file);
    for (const named_client& client : server.clients) {
        if (!client.rights.services || mistakes.full()) continue;
        for (const std::string& name : *client.rights.services) {
            if (std::ranges::find(known, name) != known.end()) continue;
            mistakes.error(client.line, "services: " + place.heading + " has no service " +
                                            quote(name) + did_you_mean(name, known));
        }
    }
    found.add(std::move(mistakes).take());
}

void check_times(const side& side) {
    const session_limits& limits = side.limits;
    if (limits.dead_peer > limits.keepalive) return;
    side.found.note(std::max(side.place.line_of("dead-peer"), side.place.line_of("keepalive")),
                    "dead-peer (" + to_text(limits.dead_peer) + ") is not longer than keepalive (" +
                        to_text(limits.keepalive) +
                        "): with these values at both ends a quiet connection is cut");
}

// Empty for what only a resolver knows.
std::optional<address_bytes> bound_address(const std::string& host) {
    return parse_address(boost::iequals(host, "localhost") ? "127.0.0.1" : host);
}

bool is_wildcard(const std::string& host) {
    const auto address = bound_address(host);
    return address && (*address == parse_address("::") || *address == parse_address("0.0.0.0"));
}

// A name other than localhost may have any address.
bool is_for_this_host(const endpoint& place) {
    if (place.is_unix()) return true;
    static const auto loopback = parse_address_range("127.0.0.0/8").value();
    const auto address = bound_address(place.host);
    return address && (loopback.contains(*address) || *address == parse_address("::1"));
}

bool same_family(const std::string& a, const std::string& b) {
    return is_ipv6(a) == is_ipv6(b);
}

bool same_host(const std::string& a, const std::string& b) {
    const auto address = bound_address(a);
    if (address && bound_address(b)) {
        return address == bound_address(b) ||
               (same_family(a, b) && (is_wildcard(a) || is_wildcard(b)));
    }
    return boost::iequals(a, b);
}

bool same_path(const std::string& a, const std::string& b) {
    return std::filesystem::path(a).lexically_normal() ==
           std::filesystem::path(b).lexically_normal();
}

bool clash(const endpoint& a, const endpoint& b) {
    if (a.is_unix() || b.is_unix()) {
        return a.is_unix() && b.is_unix() && same_path(a.unix_path, b.unix_path);
    }
    return a.port == b.port && same_host(a.host, b.host);
}

}  // namespace

void check_daemon(const daemon_settings& daemon, const section_place& place, report& found) {
    if (place.has("group") && !place.has("user"))
        found.error(place.line_of("group"), "group needs user = NAME beside it");
    if (daemon.admin && !is_for_this_host(*daemon.admin) && !daemon.admin_open &&
        !place.refused.contains("admin-open"))
        found.error(place.line_of("admin"),
                    "admin: " + daemon.admin->text() +
                        " may be reached from other hosts: write 127.0.0.1, [::1] or unix:PATH, or "
                        "admin-open = yes beside it");
    if (place.has("admin-open") && !place.has("admin"))
        found.error(place.line_of("admin-open"), "admin-open needs admin = PLACE beside it");
}

void check_server(const server_settings& server, const section_place& place, report& found) {
    const side side{server.keys, server.limits, place, found, "clients"};
    check_keys(side);
    check_psks(side);
    check_rights(server, place, found);
    check_times(side);
    const bool is_tcp = server.carrier == carrier::tcp && !place.refused.contains("carrier");
    if (is_tcp && place.has("path")) {
        side.error("path", "path needs carrier = ws: plain TCP has no paths");
    }
    if (server.proxy_protocol != proxy_protocol::off && !place.has("proxy-address")) {
        side.error("proxy-protocol",
                   "proxy-protocol needs proxy-address beside it: whose headers to believe");
    }
}

void check_client(const client_settings& client, const section_place& place, report& found) {
    const side side{client.keys, client.limits, place, found, "server-key"};
    check_keys(side);
    check_times(side);
    if (!client.connect.empty() && std::ranges::all_of(client.connect, &uplink::backup)) {
        side.error("connect", "every connect of the section is a backup: one must not be");
    }
}

void check_listens(const std::vector<listen_place>& listens, report& found) {
    for (auto later = listens.begin(); later != listens.end(); ++later) {
        const auto clashes = [&](const listen_place& earlier) {
            return clash(earlier.listen, later->listen);
        };
        const auto earlier = std::find_if(listens.begin(), later, clashes);
        if (earlier == later) continue;
        found.error(later->line, later->key + ": " + later->listen.text() + " clashes with " +
                                     earlier->listen.text() + " of " + earlier->heading +
                                     " on line " + std::to_string(earlier->line));
    }
}

}  // namespace culvert::config
