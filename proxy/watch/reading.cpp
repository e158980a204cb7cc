#include "proxy/watch/reading.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "proxy/observe/printable.hpp"
#include "proxy/watch/failure.hpp"

namespace culvert::watch {
namespace {

namespace json = boost::json;

// Objects and arrays that are not there are empty: whoever is newer or older than this program may
// tell other things.
const json::object& object(const json::value* value) {
    static const json::object nothing;
    return value != nullptr && value->is_object() ? value->get_object() : nothing;
}

const json::array& array(const json::object& in, std::string_view name) {
    static const json::array nothing;
    const json::value* const value = in.if_contains(name);
    return value != nullptr && value->is_array() ? value->get_array() : nothing;
}

double number(const json::object& in, std::string_view name) {
    const json::value* const value = in.if_contains(name);
    return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

std::uint64_t count(const json::object& in, std::string_view name) {
    const json::value* const value = in.if_contains(name);
    if (value == nullptr) return 0;
    if (value->is_uint64()) return value->get_uint64();
    return value->is_int64() && value->get_int64() > 0
               ? static_cast<std::uint64_t>(value->get_int64())
               : 0;
}

bool flag(const json::object& in, std::string_view name) {
    const json::value* const value = in.if_contains(name);
    return value != nullptr && value->is_bool() && value->get_bool();
}

std::string text_of(const json::value* value) {
    return value != nullptr && value->is_string() ? observe::printable(value->get_string())
                                                  : std::string();
}

std::string text(const json::object& in, std::string_view name) {
    return text_of(in.if_contains(name));
}

std::string list(const json::object& in, std::string_view name) {
    std::string out;
    for (const json::value& one : array(in, name)) out += (out.empty() ? "" : ", ") + text_of(&one);
    return out;
}

// What the fields are called that say the two directions.
struct directions {
    const char* to_tunnel;
    const char* from_tunnel;
};
constexpr directions of_server{"bytes_to_clients", "bytes_from_clients"};
constexpr directions of_client{"bytes_to_server", "bytes_from_server"};

traffic read_traffic(const json::object& in, const char* name, directions fields) {
    return {text(in, name), count(in, "sessions"), count(in, "sessions_total"),
            count(in, fields.to_tunnel), count(in, fields.from_tunnel)};
}

server_reading read_server(const json::object& in) {
    server_reading out{read_traffic(in, "section", of_server),
                       text(in, "listen"),
                       text(in, "carrier"),
                       count(in, "waiting"),
                       count(in, "strangers"),
                       {}};
    for (const json::value& one : array(in, "services")) {
        const json::object& service = object(&one);
        out.services.push_back(
            {read_traffic(service, "name", of_server), list(service, "targets")});
    }
    return out;
}

client_reading read_client(const json::object& in) {
    return {read_traffic(in, "section", of_client),
            text(in, "listen"),
            list(in, "connect"),
            text(in, "service"),
            count(in, "pool_size"),
            count(in, "pool_ready")};
}

std::string in_words(std::string reason) {
    std::ranges::replace(reason, '_', ' ');
    return reason;
}

histogram_reading read_histogram(const json::object& in) {
    histogram_reading out{count(in, "count"), {}};
    for (const json::value& one : array(in, "buckets"))
        out.buckets.push_back({number(object(&one), "le_s"), count(object(&one), "count")});
    return out;
}

void read_sections(const json::object& in, reading& into) {
    const auto add = [&into](const traffic& more) {
        into.all.sessions += more.sessions;
        into.all.sessions_total += more.sessions_total;
        into.all.to_tunnel += more.to_tunnel;
        into.all.from_tunnel += more.from_tunnel;
    };
    for (const json::value& one : array(in, "servers")) {
        into.servers.push_back(read_server(object(&one)));
        add(into.servers.back());
    }
    for (const json::value& one : array(in, "clients")) {
        into.clients.push_back(read_client(object(&one)));
        add(into.clients.back());
    }
    for (const json::value& one : array(in, "users")) {
        into.users.push_back(read_traffic(object(&one), "name", of_server));
        // Two servers may know two clients by the same name.
        if (into.servers.size() > 1)
            into.users.back().name += " at " + text(object(&one), "server");
    }
    std::ranges::stable_sort(into.users, std::ranges::greater{}, &traffic::sessions);
}

void read_failures(const json::object& in, reading& into) {
    const auto add = [&into](std::string section, std::string reason, std::uint64_t times) {
        if (times > 0) into.failures.push_back({std::move(section), std::move(reason), times});
    };
    for (const json::value& one : array(in, "ends")) {
        const json::object& end = object(&one);
        if (!flag(end, "failed")) continue;
        into.failed_sessions += count(end, "count");
        add(text(end, "section"), in_words(text(end, "reason")), count(end, "count"));
    }
    for (const json::value& one : array(in, "servers")) {
        const json::object& server = object(&one);
        into.failed_handshakes += count(server, "handshakes_failed_total");
        for (const json::value& kind : array(server, "handshakes_failed"))
            add(text(server, "section"), in_words(text(object(&kind), "reason")) + " (no session)",
                count(object(&kind), "count"));
    }
    std::ranges::stable_sort(into.failures, std::ranges::greater{}, &failure_reading::count);
}

}  // namespace

reading read_status(std::string_view told) {
    boost::system::error_code ec;
    const json::value value = json::parse({told.data(), told.size()}, ec);
    const json::object& in = object(&value);
    if (ec || !in.contains("schema"))
        throw no_answer("what answers there is not culvert's admin listener");
    if (count(in, "schema") != 1)
        throw no_answer(
            "the daemon's status has a newer form than this program knows: install the "
            "version that the daemon has");
    const json::object& process = object(in.if_contains("process"));
    reading out;
    out.version = text(in, "version");
    out.protocol = text(in, "protocol");
    out.pid = count(in, "pid");
    out.started = number(in, "started");
    out.uptime = number(in, "uptime_s");
    out.ready = flag(in, "ready");
    out.draining = flag(in, "draining");
    out.threads = count(in, "threads");
    out.open_files = count(process, "open_fds");
    out.most_files = count(process, "max_fds");
    out.memory = count(process, "resident_bytes");
    out.cpu = number(process, "cpu_s");
    out.handshakes = read_histogram(object(in.if_contains("handshake")));
    read_sections(in, out);
    read_failures(in, out);
    return out;
}

}  // namespace culvert::watch
