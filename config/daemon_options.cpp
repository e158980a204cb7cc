// The keys of [daemon].
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

}  // namespace

void add_daemon_options(option_table& table, daemon_settings& into) {
    auto add = table.add_options();
    add("threads", count_value(into.threads, {1, 256})->default_value("1"),
        "threads that carry connections");
    add("log-level", level_value(into.level)->default_value("info"),
        "error, warning, info or debug");
    add("drain", seconds_value(into.drain, {seconds(0), hours(1)})->default_value("30s"),
        "how long SIGTERM waits for running connections");
}

}  // namespace culvert::config
