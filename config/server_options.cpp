// The keys of [server.NAME].
#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <utility>

#include "config/client_list.hpp"
#include "config/common_options.hpp"
#include "config/connect.hpp"
#include "config/lines.hpp"
#include "config/psk_list.hpp"
#include "config/service.hpp"

namespace culvert::config {
namespace {

using std::chrono::hours;

constexpr count_range connections{1, 1'000'000};

option_value* listen_value(endpoint& into) {
    return text_value("[HOST:]PORT", [&into](const std::string& text) {
        if (text.starts_with("unix:")) throw refused("tunnels come in on host:port or [v6]:port");
        into = parse_listen(text).value();
    });
}

option_value* carrier_value(carrier& into) {
    static const choices<carrier> carriers{{"tcp", carrier::tcp}, {"ws", carrier::websocket}};
    return text_value("tcp or ws", [&into](const std::string& text) {
        into = parse_choice(text, carriers).value();
    });
}

option_value* path_value(std::string& into) {
    return text_value(
        "/PATH", [&into](const std::string& text) { into = parse_request_path(text).value(); });
}

option_value* clients_value(server_settings& into, const reading& context) {
    return text_value("FILE", [&into, &context](const std::string& path) {
        const std::filesystem::path file = context.resolve(path);
        client_list list = read_client_list(file).value();
        context.found.add(std::move(list.mistakes));
        into.clients = std::move(list.clients);
        into.clients_file = file.native();
    });
}

option_value* psks_value(server_settings& into, const reading& context) {
    return text_value("FILE", [&into, &context](const std::string& path) {
        const std::filesystem::path file = context.resolve(path);
        psk_list list = read_psk_list(file).value();
        context.found.add(std::move(list.mistakes));
        into.keys.psks = std::move(list.psks);
        into.clients = std::move(list.holders);
        into.clients_file = file.native();
    });
}

option_value* service_value(std::vector<service>& into, const reading& context) {
    return text_value("NAME TARGET ... [OPTION=VALUE ...]", [&into, &context](const auto& text) {
        service added = parse_service(text, context.folder);
        const auto same = [&](const service& known) { return known.name == added.name; };
        if (std::ranges::any_of(into, same)) {
            throw refused("the name " + quote(added.name) + " is taken by a service above");
        }
        for (const endpoint& target : added.targets) note_unix(target, context);
        into.push_back(std::move(added));
    });
}

option_value* proxies_value(std::vector<address_range>& into) {
    return text_value("ADDRESS[/PREFIX], ...", [&into](const std::string& list) {
        std::vector<std::string> addresses;
        boost::split(addresses, list, boost::is_any_of(","));
        for (const std::string& address : addresses) {
            into.push_back(parse_address_range(trim(address)).value());
        }
    });
}

option_value* proxy_protocol_value(proxy_protocol& into) {
    static const choices<proxy_protocol> known{{"off", proxy_protocol::off},
                                               {"on", proxy_protocol::on},
                                               {"required", proxy_protocol::required}};
    return text_value("off, on or required", [&into](const std::string& text) {
        into = parse_choice(text, known).value();
    });
}

}  // namespace

void add_server_options(option_table& table, server_settings& into, reading& context) {
    auto add = table.add_options();
    add("listen", listen_value(into.listen)->required(),
        "where tunnels come in; without a host on 127.0.0.1");
    add("carrier", carrier_value(into.carrier)->default_value("tcp"),
        "what carries the tunnel: plain TCP, or WebSocket");
    add("path", path_value(into.path)->default_value("/"),
        "request path of the WebSocket; only with carrier = ws");
    add("service", service_value(into.services, context)->required()->composing(),
        "what clients may reach, at one or several HOST:PORT or unix:PATH; the first is the "
        "default\n"
        "balance=round-robin, least-connections or first: which target, of those that are up\n"
        "check=TIME, 1s-1h: each target is tried so often, and not only by connections\n"
        "idle-timeout=TIME or off: instead of the section's\n"
        "max-connections=N: of this service, at a time\n"
        "send-proxy=v1 or v2: the PROXY protocol tells the target the client's address; v2 also "
        "the client's name");
    add_key_options(table, into.keys, context);
    add("psks", psks_value(into, context),
        "secret file of the clients' names and psks, one client a line, at most 16; for psk");
    add("clients", clients_value(into, context),
        "file of the clients' names and public keys, one client a line; only with identity");
    add_limit_options(table, into.limits);
    add("clock-skew",
        seconds_or_off_value(into.clock_skew, {seconds(1), hours(1)})->default_value("120s"),
        "how far a client's clock may be off; with off, a replay may be answered");
    add("max-unproven", count_value(into.unproven, connections)->default_value("1024"),
        "connections that have not yet shown a key");
    add("max-unproven-per-address",
        count_value(into.unproven_per_address, connections)->default_value("64"),
        "the same of one IPv4 address or IPv6 /64");
    add("proxy-address", proxies_value(into.proxies)->composing(),
        "addresses that max-unproven-per-address does not count");
    add("proxy-protocol", proxy_protocol_value(into.proxy_protocol)->default_value("off"),
        "on: connections from proxy-address begin with a PROXY header (v1 or v2), which says whom "
        "they come from; with required, no others are served");
    add("kick-removed", yes_no_value(into.kick_removed)->default_value("no"),
        "whether a reload ends the running sessions of clients that are listed no more");
    add("max-waiting", count_value(into.waiting, {1, 65536})->default_value("64"),
        "sessions that clients of one key may open ahead of need");
}

}  // namespace culvert::config
