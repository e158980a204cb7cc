#include "proxy/observe/status_json.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>

#include "proxy/observe/printable.hpp"

namespace culvert::observe {
namespace {

namespace json = boost::json;

constexpr int schema = 1;

// Milliseconds and microseconds are all that anybody reads; whole numbers are written as such.
double rounded(double seconds) {
    return std::round(seconds * 1e6) / 1e6;
}

double unix_seconds(std::chrono::system_clock::time_point when) {
    using std::chrono::duration_cast;
    const auto since = duration_cast<std::chrono::milliseconds>(when.time_since_epoch());
    return static_cast<double>(since.count()) / 1e3;
}

bool is_server(const section_status& of) {
    return of.about.what == section_info::kind::server;
}

json::array texts(const std::vector<std::string>& from) {
    return json::array(from.begin(), from.end());
}

json::object json_of(const handshake_status& times) {
    json::array buckets;
    for (std::size_t i = 0; i < times.at_most.size(); ++i)
        buckets.push_back({{"le_s", handshake_counters::ends_s[i]}, {"count", times.at_most[i]}});
    return {{"count", times.count}, {"sum_s", rounded(times.sum_s)}, {"buckets", buckets}};
}

json::array counts(const std::vector<named_count>& from) {
    json::array all;
    for (const named_count& one : from) all.push_back({{"reason", one.name}, {"count", one.count}});
    return all;
}

json::object json_of(const traffic_status& row) {
    return {{"name", row.name},
            {"sessions", row.sessions},
            {"sessions_total", row.sessions_total},
            {"bytes_from_clients", row.from_tunnel},
            {"bytes_to_clients", row.to_tunnel}};
}

// In the order of the configuration; behind them those that it does not name any more.
json::array services_of(const section_status& of) {
    json::array known;
    json::array gone;
    for (const service_info& service : of.about.services)
        for (const traffic_status& row : of.services) {
            if (row.name != service.name) continue;
            json::object one = json_of(row);
            one["targets"] = texts(service.targets);
            known.push_back(std::move(one));
        }
    for (const traffic_status& row : of.services) {
        const auto& named = of.about.services;
        const auto is_it = [&](const service_info& s) { return s.name == row.name; };
        if (std::any_of(named.begin(), named.end(), is_it)) continue;
        json::object one = json_of(row);
        one["targets"] = json::array();
        gone.push_back(std::move(one));
    }
    for (auto& one : gone) known.push_back(std::move(one));
    return known;
}

json::object server_of(const section_status& of) {
    std::uint64_t failed = 0;
    for (const named_count& one : of.handshakes_failed) failed += one.count;
    return {{"name", of.about.name},
            {"section", of.about.section()},
            {"listen", of.about.listen},
            {"carrier", of.about.carrier},
            {"sessions", of.sessions},
            {"sessions_total", of.sessions_total},
            {"waiting", of.waiting},
            {"connections_total", of.connections_total},
            {"strangers", of.strangers},
            {"strangers_evicted_total", of.strangers_evicted_total},
            {"handshakes_failed_total", failed},
            {"handshakes_failed", counts(of.handshakes_failed)},
            {"accept_errors_total", of.accept_errors_total},
            {"bytes_from_clients", of.from_tunnel},
            {"bytes_to_clients", of.to_tunnel},
            {"handshake", json_of(of.handshake)},
            {"services", services_of(of)}};
}

json::object client_of(const section_status& of) {
    return {{"name", of.about.name},
            {"section", of.about.section()},
            {"listen", of.about.listen},
            {"connect", texts(of.about.connect)},
            {"service", of.about.service},
            {"sessions", of.sessions},
            {"sessions_total", of.sessions_total},
            {"accept_errors_total", of.accept_errors_total},
            {"bytes_to_server", of.to_tunnel},
            {"bytes_from_server", of.from_tunnel},
            {"pool_size", of.about.pool},
            {"pool_ready", of.pool_ready},
            {"pool_failures_total", of.pool_failures_total},
            {"handshake", json_of(of.handshake)}};
}

json::object json_of(const session_report& ended) {
    return {{"time", unix_seconds(ended.ended)},           {"section", ended.section},
            {"peer", printable(ended.who.peer)},           {"client", ended.who.client},
            {"service", printable(ended.who.service)},     {"carrier", ended.who.carrier},
            {"bytes_to_tunnel", ended.to_tunnel},          {"bytes_from_tunnel", ended.from_tunnel},
            {"duration_s", rounded(ended.lasted.count())}, {"reason", ended.reason},
            {"detail", printable(ended.detail)},           {"failed", ended.failed}};
}

json::object json_of(const process_status& now) {
    return {{"open_fds", now.open_fds},
            {"max_fds", now.max_fds},
            {"resident_bytes", now.resident_bytes},
            {"virtual_bytes", now.virtual_bytes},
            {"cpu_s", rounded(now.cpu_s)}};
}

void add_sections(json::object& into, const status& now) {
    json::array servers;
    json::array clients;
    json::array users;
    json::array ends;
    handshake_status handshake;
    for (const section_status& of : now.sections) {
        (is_server(of) ? servers : clients)
            .push_back(is_server(of) ? server_of(of) : client_of(of));
        for (const traffic_status& row : of.clients) {
            json::object user = json_of(row);
            user["server"] = of.about.name;
            users.push_back(std::move(user));
        }
        for (const end_count& end : of.ends)
            ends.push_back({{"section", of.about.section()},
                            {"reason", end.reason},
                            {"failed", end.failed},
                            {"count", end.count}});
        handshake.add(of.handshake);
    }
    into["servers"] = std::move(servers);
    into["clients"] = std::move(clients);
    into["users"] = std::move(users);
    into["ends"] = std::move(ends);
    into["handshake"] = json_of(handshake);
}

}  // namespace

std::string to_json(const status& now) {
    json::array kernels;
    for (const auto& [primitive, kernel] : now.kernels)
        kernels.push_back({{"primitive", primitive}, {"kernel", kernel}});
    json::array recent;
    for (const session_report& ended : now.recent) recent.push_back(json_of(ended));
    json::object all{{"schema", schema},
                     {"version", now.version},
                     {"protocol", now.protocol},
                     {"pid", now.pid},
                     {"started", unix_seconds(now.started)},
                     {"now", unix_seconds(now.now)},
                     {"uptime_s", rounded(now.uptime.count())},
                     {"ready", now.ready},
                     {"draining", now.draining},
                     {"threads", now.threads},
                     {"kernels", std::move(kernels)},
                     {"process", json_of(now.process)},
                     {"replay_cache_entries", now.replay_cache_entries}};
    add_sections(all, now);
    all["recent"] = std::move(recent);
    return json::serialize(all);
}

}  // namespace culvert::observe
