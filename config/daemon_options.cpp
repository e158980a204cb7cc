// The keys of [daemon].
#include "config/account.hpp"
#include "config/option_values.hpp"
#include "config/tables.hpp"

namespace culvert::config {
namespace {

using std::chrono::hours;

option_value* level_value(log_level& into) {
    static const choices<log_level> levels{{"error", log_level::error},
                                           {"warning", log_level::warning},
                                           {"info", log_level::info},
                                           {"debug", log_level::debug}};
    return text_value(
        "LEVEL", [&into](const std::string& text) { into = parse_choice(text, levels).value(); });
}

option_value* user_value(std::optional<account>& into) {
    return text_value("NAME", [&into](const std::string& name) { into = find_user(name).value(); });
}

option_value* group_value(std::optional<std::uint32_t>& into) {
    return text_value("NAME",
                      [&into](const std::string& name) { into = find_group(name).value(); });
}

option_value* sandbox_value(sandbox& into) {
    static const choices<sandbox> known{
        {"on", sandbox::on}, {"strict", sandbox::strict}, {"off", sandbox::off}};
    return text_value("on, strict or off", [&into](const std::string& text) {
        into = parse_choice(text, known).value();
    });
}

option_value* control_value(endpoint& into, const reading& context) {
    return text_value("unix:PATH", [&into, &context](const std::string& text) {
        if (!text.starts_with("unix:")) throw refused("is a unix socket: write unix:PATH");
        into = parse_listen_or_unix(text, context.folder).value();
    });
}

option_value* format_value(log_format& into) {
    static const choices<log_format> formats{{"text", log_format::text},
                                             {"json", log_format::json}};
    return text_value("text or json", [&into](const std::string& text) {
        into = parse_choice(text, formats).value();
    });
}

option_value* admin_value(std::optional<endpoint>& into, const reading& context) {
    return text_value("[HOST:]PORT or unix:PATH", [&into, &context](const std::string& text) {
        into = parse_listen_or_unix(text, context.folder).value();
    });
}

}  // namespace

void add_daemon_options(option_table& table, daemon_settings& into, reading& context) {
    auto add = table.add_options();
    add("threads", count_value(into.threads, {1, 256})->default_value("1"),
        "threads that carry connections");
    add("log-level", level_value(into.level)->default_value("info"),
        "error, warning, info or debug");
    add("log-format", format_value(into.log_format)->default_value("text"),
        "lines for people, or an object of JSON a line");
    add("drain", seconds_value(into.drain, {seconds(0), hours(1)})->default_value("30s"),
        "how long SIGTERM waits for running connections");
    add("user", user_value(into.user),
        "whom a daemon started by root becomes once it listens and has read its keys");
    add("group", group_value(into.group), "the same of groups; without it the user's own one");
    add("sandbox", sandbox_value(into.sandbox)->default_value("on"),
        "how far the daemon confines itself; with strict it can't reload, off is for debuggers");
    add("control", control_value(into.control, context),
        "where culvert reload and culvert run --replace find this daemon");
    add("admin", admin_value(into.admin, context),
        "where a browser and Prometheus see how it goes; on this host only");
    add("admin-open", yes_no_value(into.admin_open)->default_value("no"),
        "whether admin may be a place that other hosts reach, with no password");
}

}  // namespace culvert::config
