// The keys of [client.NAME].
#include <algorithm>
#include <utility>

#include "config/common_options.hpp"
#include "config/connect.hpp"
#include "config/key_text.hpp"
#include "config/uplinks.hpp"

namespace culvert::config {
namespace {

option_value* listen_value(endpoint& into, const reading& context) {
    return text_value("[HOST:]PORT or unix:PATH", [&into, &context](const std::string& text) {
        into = parse_listen_or_unix(text, context.folder).value();
        note_unix(into, context);
    });
}

option_value* connect_value(std::vector<uplink>& into) {
    return text_value(
        "tcp://HOST:PORT or ws://HOST:PORT/PATH ... [weight=N] [backup]",
        [&into](const std::string& text) {
            for (uplink& to : parse_uplinks(text)) {
                if (std::ranges::any_of(into, [&](const uplink& o) { return same_way(o, to); }))
                    throw refused(to_text(to) + " stands here twice");
                into.push_back(std::move(to));
            }
        });
}

option_value* service_value(std::string& into) {
    return text_or_nothing_value(
        "NAME", [&into](const std::string& text) { into = parse_name(text).value(); });
}

option_value* server_key_value(public_key& into) {
    return text_value("PUBLIC-KEY",
                      [&into](const std::string& text) { into = parse_public_key(text).value(); });
}

}  // namespace

void add_client_options(option_table& table, client_settings& into, reading& context) {
    auto add = table.add_options();
    add("listen", listen_value(into.listen, context)->required(),
        "where plaintext comes in; without a host on 127.0.0.1");
    add("connect", connect_value(into.connect)->required()->composing(),
        "the server, and what carries the tunnel; with several servers, those that can be reached "
        "share the connections\n"
        "weight=N, 1-256: shares of each; backup: only where no other can be reached");
    add("service", service_value(into.service),
        "the service wanted; without it the server's default");
    add_key_options(table, into.keys, context);
    add("server-key", server_key_value(into.server_key),
        "the server's public key, printed by culvert pubkey FILE; only with identity");
    add_limit_options(table, into.limits);
    add("pool", count_value(into.pool, {0, 1024})->default_value("0"),
        "sessions kept ready for new connections; below the server's max-waiting");
}

}  // namespace culvert::config
