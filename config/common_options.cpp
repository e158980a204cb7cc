#include "config/common_options.hpp"

#include <utility>

#include "config/key_file.hpp"

namespace culvert::config {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::size_t longest_realm = 255;
constexpr count_range connections{1, 1'000'000};
constexpr seconds_range deadline{seconds(1), minutes(5)};
constexpr seconds_range life{seconds(1), hours(720)};

option_value* key_value(std::optional<key>& into, const reading& context) {
    return text_value("FILE", [&into, &context](const std::string& path) {
        into = read_secret_key(context.resolve(path)).value();
    });
}

option_value* realm_value(std::string& into) {
    return text_or_nothing_value("TEXT", [&into](const std::string& text) {
        if (text.size() > longest_realm) throw refused("is longer than 255 bytes");
        into = text;
    });
}

}  // namespace

void add_key_options(option_table& table, credentials& into, const reading& context) {
    auto add = table.add_options();
    add("psk", key_value(into.psk, context),
        "secret that both ends share; made by culvert keygen psk FILE");
    add("identity", key_value(into.identity, context),
        "private key of this end, made by culvert keygen static FILE; psk may stand beside it");
    add("realm", realm_value(into.realm),
        "equal at both ends, keeps apart servers that share a psk; not with identity");
}

void add_limit_options(option_table& table, session_limits& into) {
    auto add = table.add_options();
    add("handshake-timeout", seconds_value(into.handshake, deadline)->default_value("10s"),
        "time for the handshake; a server adds up to 10s at random");
    add("connect-timeout", seconds_value(into.connect, deadline)->default_value("10s"),
        "time to reach the service (from a server) or the server (from a client)");
    add("keepalive", seconds_value(into.keepalive, {seconds(5), minutes(5)})->default_value("25s"),
        "an empty record goes out when nothing was sent for this time");
    add("dead-peer", seconds_value(into.dead_peer, {seconds(10), hours(1)})->default_value("90s"),
        "a connection is cut when nothing came for this time; above the other end's keepalive");
    add("idle-timeout", seconds_or_off_value(into.idle, life)->default_value("off"),
        "a connection is cut when it carried no data for this time");
    add("max-age", seconds_or_off_value(into.age, life)->default_value("off"),
        "a connection ends at this age, as only a new one heals stolen session keys");
    add("max-connections", count_value(into.connections, connections)->default_value("8192"),
        "connections of this section at a time");
}

void note_unix(const endpoint& where, const reading& context) {
    if (where.is_unix()) {
        context.note(
            "a unix socket cannot carry a reset: the application behind it may take a cut "
            "connection for one that ended in good order");
    }
}

}  // namespace culvert::config
