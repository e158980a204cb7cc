#include "config/service.hpp"

#include <algorithm>
#include <chrono>

#include "config/lines.hpp"
#include "config/values.hpp"
#include "config/word_options.hpp"

namespace culvert::config {
namespace {

using std::chrono::hours;

constexpr std::string_view form =
    "write service = NAME TARGET ..., each target a HOST:PORT or unix:PATH";
constexpr std::size_t most_targets = 64;
constexpr seconds_range idle_times{seconds(1), hours(720)};
constexpr seconds_range check_times{seconds(1), hours(1)};
constexpr count_range connections{1, 1'000'000};

const choices<balance> balances{{"round-robin", balance::round_robin},
                                {"least-connections", balance::least_connections},
                                {"first", balance::first}};
const choices<proxy_header> headers{
    {"off", proxy_header::none}, {"v1", proxy_header::v1}, {"v2", proxy_header::v2}};

template <class T>
const std::string& name_of(const choices<T>& known, T value) {
    return std::ranges::find(known, value, &choices<T>::value_type::second)->first;
}

word_options options_of(service& into) {
    using text = std::string;
    return word_options({
        {"balance", [&](const text& t) { into.balance = parse_choice(t, balances).value(); }},
        {"check",
         [&](const text& t) { into.check = parse_seconds_or_off(t, check_times).value(); }},
        {"idle-timeout",
         [&](const text& t) { into.idle = parse_seconds_or_off(t, idle_times).value(); }},
        {"max-connections",
         [&](const text& t) { into.connections = parse_count(t, connections).value(); }},
        {"send-proxy", [&](const text& t) { into.send_proxy = parse_choice(t, headers).value(); }},
    });
}

// A path may hold a '='.
bool is_option(std::string_view word) noexcept {
    return word.find('=') != word.npos && !word.starts_with("unix:");
}

void add_target(service& to, std::string_view word, const std::filesystem::path& folder) {
    endpoint target = parse_host_port_or_unix(word, folder).value();
    if (std::ranges::find(to.targets, target) != to.targets.end())
        throw refused("the target " + target.text() + " stands here twice");
    if (to.targets.size() == most_targets)
        throw refused("there are more than " + std::to_string(most_targets) + " targets");
    to.targets.push_back(std::move(target));
}

}  // namespace

service parse_service(std::string_view text, const std::filesystem::path& folder) {
    service made;
    word_options options = options_of(made);
    const std::string_view name = next_word(text);
    if (text.empty() || is_option(name)) throw refused(std::string(form));
    made.name = parse_name(name).value();
    while (!text.empty()) {
        const std::string_view word = next_word(text);
        if (is_option(word))
            options.take(word);
        else
            add_target(made, word, folder);
    }
    if (made.targets.empty()) throw refused(std::string(form));
    if (options.given("balance") && made.targets.size() == 1)
        throw refused("balance is for several targets, and there is one");
    return made;
}

std::string to_text(const service& of) {
    std::string text = of.name;
    for (const endpoint& target : of.targets) text += " " + target.text();
    if (of.targets.size() > 1) text += " balance=" + name_of(balances, of.balance);
    if (of.check) text += " check=" + to_text(*of.check);
    if (of.idle) text += " idle-timeout=" + (*of.idle ? to_text(**of.idle) : "off");
    if (of.connections) text += " max-connections=" + std::to_string(*of.connections);
    if (of.send_proxy != proxy_header::none)
        text += " send-proxy=" + name_of(headers, of.send_proxy);
    return text;
}

}  // namespace culvert::config
