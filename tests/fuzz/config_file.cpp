// Configuration files: mistakes are told with lines that exist and in printable words; what is good
// is complete, within its ranges, and means the same once it is written down again.
#include <algorithm>
#include <tuple>

#include "config/load.hpp"
#include "config/service.hpp"
#include "config/uplinks.hpp"
#include "config/values.hpp"
#include "tests/fuzz/diagnostics.hpp"
#include "tests/fuzz/folder.hpp"

namespace culvert::fuzz {
namespace {

using namespace config;

config::loaded read(std::string_view text) {
    return parse(text, "culvert.conf", folder().path());
}

// KEY = VALUE lines of sections, as somebody would write them.
class printer {
  public:
    std::string text;

    void put(const std::string& key, const std::string& value) {
        text.append(key).append(" = ").append(value).append("\n");
    }
    void put(const std::string& key, std::size_t count) { put(key, std::to_string(count)); }
    void put(const std::string& key, seconds time) { put(key, config::to_text(time)); }
    void put(const std::string& key, std::optional<seconds> time) {
        put(key, time ? config::to_text(*time) : "off");
    }

    void put(const session_limits& limits) {
        put("handshake-timeout", limits.handshake);
        put("connect-timeout", limits.connect);
        put("keepalive", limits.keepalive);
        put("dead-peer", limits.dead_peer);
        put("idle-timeout", limits.idle);
        put("max-age", limits.age);
        put("max-connections", limits.connections);
    }
    void put(const credentials& keys) {
        if (keys.psk) put("psk", name_of(*keys.psk));
        if (keys.identity) put("identity", name_of(*keys.identity));
        put("realm", keys.realm);
    }
    void put(const server_settings& s) {
        text += "[server." + s.name + "]\n";
        put("listen", s.listen.text());
        const bool ws = s.carrier == carrier::websocket;
        put("carrier", ws ? "ws" : "tcp");
        if (ws) put("path", s.path);
        put_without_realm(s.keys);
        const std::string list = s.keys.psks.empty() ? "clients" : "psks";
        if (!s.clients.empty()) put(list, list);
        for (const auto& service : s.services) put("service", to_text(service));
        put(s.limits);
        for (const auto& range : s.proxies) put("proxy-address", text_of(range));
        static const std::array<std::string, 3> modes{"off", "on", "required"};
        put("proxy-protocol", modes.at(static_cast<std::size_t>(s.proxy_protocol)));
        put("clock-skew", s.clock_skew);
        put("max-unproven", s.unproven);
        put("max-unproven-per-address", s.unproven_per_address);
        put("max-waiting", s.waiting);
    }
    void put(const client_settings& c) {
        text += "[client." + c.name + "]\n";
        put("listen", c.listen.text());
        for (const uplink& to : c.connect) put("connect", line_of(to));
        put("service", c.service);
        put_without_realm(c.keys);
        if (c.keys.identity) put("server-key", hex_of(c.server_key));
        put(c.limits);
        put("pool", c.pool);
    }

  private:
    // In the IPv6 form, which every range has.
    static std::string text_of(const address_range& range) {
        static constexpr std::string_view digits = "0123456789abcdef";
        std::string out;
        for (std::size_t i = 0; i < range.first.size(); ++i) {
            if (i > 0 && i % 2 == 0) out += ':';
            out.append({digits[range.first[i] / 16U], digits[range.first[i] % 16U]});
        }
        return out + "/" + std::to_string(range.prefix);
    }
    // Beside an identity even an empty realm is a mistake.
    void put_without_realm(const credentials& keys) {
        if (!keys.identity) return put(keys);
        if (keys.psk) put("psk", name_of(*keys.psk));
        put("identity", name_of(*keys.identity));
    }
    static std::string name_of(const key& k) { return k.view()[0] == 1 ? "psk" : "id"; }
    static std::string hex_of(const public_key& k) {
        static constexpr std::string_view digits = "0123456789abcdef";
        std::string out;
        for (const unsigned byte : k) out.append({digits[byte / 16], digits[byte % 16]});
        return out;
    }
};

std::string print(const settings& all) {
    printer to;
    to.text = "[daemon]\n";
    to.put("threads", all.daemon.threads);
    to.put("drain", all.daemon.drain);
    static const std::array<std::string, 4> levels{"error", "warning", "info", "debug"};
    to.put("log-level", levels.at(static_cast<std::size_t>(all.daemon.level)));
    for (const auto& s : all.servers) to.put(s);
    for (const auto& c : all.clients) to.put(c);
    return to.text;
}

void check_keys(const credentials& keys, bool knows_peer) {
    require(keys.psk || keys.identity || !keys.psks.empty());
    require(keys.psks.empty() || (!keys.psk && !keys.identity));
    require(keys.identity.has_value() == knows_peer);
    require(keys.realm.size() <= 255 && (keys.realm.empty() || !keys.identity));
}

void check_limits(const session_limits& l) {
    const auto within = [](seconds t, int least, int most) {
        require(t.count() >= least && t.count() <= most);
    };
    within(l.handshake, 1, 300);
    within(l.connect, 1, 300);
    within(l.keepalive, 5, 300);
    within(l.dead_peer, 10, 3'600);
    if (l.idle) within(*l.idle, 1, 720 * 3'600);
    if (l.age) within(*l.age, 1, 720 * 3'600);
    require(l.connections >= 1 && l.connections <= 1'000'000);
}

void check_service(const service& s) {
    require(!s.name.empty() && !s.targets.empty());
    for (const endpoint& target : s.targets) {
        require(target.is_set());
        require(std::count(s.targets.begin(), s.targets.end(), target) == 1);
    }
    if (s.check) require(s.check->count() >= 1 && s.check->count() <= 3'600);
    if (s.idle && *s.idle) require((*s.idle)->count() >= 1);
    if (s.connections) require(*s.connections >= 1 && *s.connections <= 1'000'000);
}

// Settings that a daemon may start with.
void check_settings(const settings& all) {
    require(!all.servers.empty() || !all.clients.empty());
    require(all.daemon.threads >= 1);
    for (const auto& s : all.servers) {
        require(!s.name.empty() && s.listen.is_set() && !s.listen.is_unix());
        require(!s.services.empty() && s.path.starts_with('/'));
        for (const auto& service : s.services) check_service(service);
        require(s.proxy_protocol == proxy_protocol::off || !s.proxies.empty());
        check_keys(s.keys, !s.clients.empty() && s.keys.psks.empty());
        require(s.keys.psks.empty() || s.keys.psks.size() == s.clients.size());
        check_limits(s.limits);
    }
    for (const auto& c : all.clients) {
        require(!c.name.empty() && c.listen.is_set() && !c.connect.empty() && c.pool <= 1'024);
        for (const uplink& to : c.connect)
            require(to.place.is_set() && !to.place.is_unix() && to.path.starts_with('/') &&
                    to.weight >= 1 && to.weight <= 256);
        require(!std::all_of(c.connect.begin(), c.connect.end(),
                             [](const uplink& to) { return to.backup; }));
        check_keys(c.keys, c.server_key != public_key{});
        check_limits(c.limits);
    }
}

void run(const std::string& text) {
    const config::loaded first = read(text);
    check_diagnostics(first.diagnostics, text, "culvert.conf");
    if (!first.ok()) return;
    check_settings(first.value);

    const std::string printed = print(first.value);
    const config::loaded second = read(printed);
    require(second.ok() && print(second.value) == printed);
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run(culvert::fuzz::input(data, size).rest_as_text());
    return 0;
}
