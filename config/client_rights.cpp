#include "config/client_rights.hpp"

#include <algorithm>
#include <set>

#include "config/lines.hpp"
#include "config/values.hpp"

namespace culvert::config {
namespace {

constexpr std::size_t longest_name = 255;
constexpr count_range connections{1, 1'000'000};

result<std::vector<std::string>> parse_services(std::string_view list) {
    std::vector<std::string> names;
    for (bool more = true; more;) {
        const std::size_t comma = list.find(',');
        const std::string_view name = list.substr(0, comma);
        more = comma != list.npos;
        list.remove_prefix(more ? comma + 1 : list.size());
        if (name.empty()) return reason{"write the names with commas between them: services=A,B"};
        result<std::string> parsed = parse_name(name);
        if (!parsed) return parsed.error();
        if (std::ranges::find(names, *parsed) != names.end()) {
            return reason{quote(name) + " stands there twice"};
        }
        names.push_back(std::move(*parsed));
    }
    return names;
}

// One word, whose key is known.
result<void> take(client_rights& into, std::string_view key, std::string_view value) {
    if (key == "services") {
        auto services = parse_services(value);
        if (!services) return services.error();
        into.services = std::move(*services);
    } else if (key == "max-connections") {
        const auto count = parse_count(value, connections);
        if (!count) return count.error();
        into.connections = static_cast<std::size_t>(*count);
    } else {
        const auto rate = parse_rate(value);
        if (!rate) return rate.error();
        into.rate = *rate;
    }
    return {};
}

}  // namespace

result<client_rights> parse_client_rights(std::string_view words) {
    static const std::vector<std::string> known{"services", "max-connections", "rate"};
    client_rights rights;
    std::set<std::string_view> seen;
    while (!words.empty()) {
        const std::string_view word = next_word(words);
        const std::size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals);
        if (equals == word.npos || std::ranges::find(known, key) == known.end()) {
            return reason{"an unknown word stands behind the key" + did_you_mean(key, known) +
                          " (accepted: " + std::string(client_rights_form) + ")"};
        }
        if (!seen.insert(key).second) return reason{std::string(key) + " stands there twice"};
        const result<void> taken = take(rights, key, word.substr(equals + 1));
        if (!taken) return reason{std::string(key) + ": " + taken.error().text};
    }
    return rights;
}

bool is_client_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= longest_name && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-' || c == '@';
    });
}

}  // namespace culvert::config
