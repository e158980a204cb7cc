// The keys of [server.NAME].
#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <utility>

#include "config/client_list.hpp"
#include "config/common_options.hpp"
#include "config/connect.hpp"
#include "config/lines.hpp"

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

option_value* clients_value(std::vector<named_client>& into, const reading& context) {
    return text_value("FILE", [&into, &context](const std::string& path) {
        client_list list = read_client_list(context.resolve(path)).value();
        context.found.add(std::move(list.mistakes));
        into = std::move(list.clients);
    });
}

service parse_service(std::string_view text, const reading& context) {
    const std::string_view name = next_word(text);
    const std::string_view target = next_word(text);
    if (target.empty() || !text.empty()) {
        throw refused("write service = NAME HOST:PORT or service = NAME unix:PATH");
    }
    std::string checked_name = parse_name(name).value();
    endpoint where = parse_host_port_or_unix(target, context.folder).value();
    return {std::move(checked_name), noting_unix(std::move(where), context)};
}

option_value* service_value(std::vector<service>& into, const reading& context) {
    return text_value("NAME TARGET", [&into, &context](const std::string& text) {
        service added = parse_service(text, context);
        const auto same = [&](const service& known) { return known.name == added.name; };
        if (std::ranges::any_of(into, same)) {
            throw refused("the name " + quote(added.name) + " is taken by a service above");
        }
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
        "what clients may reach: HOST:PORT or unix:PATH; the first is the default");
    add_key_options(table, into.keys, context);
    add("clients", clients_value(into.clients, context),
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
    add("kick-removed", yes_no_value(into.kick_removed)->default_value("no"),
        "whether a reload ends the running sessions of clients that are listed no more");
    add("max-waiting", count_value(into.waiting, {1, 65536})->default_value("64"),
        "sessions that clients of one key may open ahead of need");
}

}  // namespace culvert::config
