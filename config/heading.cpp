#include "config/heading.hpp"

#include <algorithm>

#include "config/lines.hpp"
#include "config/nearest.hpp"
#include "config/quote.hpp"
#include "config/values.hpp"

namespace culvert::config {
namespace {

const std::vector<std::string> kind_names{"daemon", "server", "client"};  // as in section_kind

std::optional<section_kind> kind_of(std::string_view word) {
    const auto found = std::ranges::find(kind_names, word);
    if (found == kind_names.end()) return {};
    return static_cast<section_kind>(found - kind_names.begin());
}

section_heading unknown_kind(std::string_view word, std::string_view name) {
    return {kind_of(nearest(word, kind_names)), std::string(name),
            "unknown section " + quote(word) + did_you_mean(word, kind_names) +
                " (accepted: [daemon], [server.NAME], [client.NAME])"};
}

std::string mistake_of_name(section_kind kind, std::string_view name, bool has_dot) {
    if (kind == section_kind::daemon) return has_dot ? "[daemon] takes no name" : "";
    if (name.empty()) return "the section needs a name: " + to_text(kind, "NAME");
    const result<std::string> checked = parse_name(name);
    return checked ? "" : checked.error().text;
}

}  // namespace

section_heading parse_heading(std::string_view body) {
    const bool closed = body.ends_with(']');
    const std::string_view inside = trim(body.substr(1, body.size() - (closed ? 2 : 1)));
    const std::size_t dot = std::min(inside.find('.'), inside.size());
    const std::string_view word = inside.substr(0, dot);
    const std::string_view name = inside.substr(std::min(dot + 1, inside.size()));
    const auto kind = kind_of(word);
    if (!closed) return {kind, std::string(name), "the ']' of the section is missing"};
    if (!kind) return unknown_kind(word, name);
    return {kind, std::string(name), mistake_of_name(*kind, name, dot < inside.size())};
}

std::string to_text(section_kind kind, std::string_view name) {
    const std::string& word = kind_names[static_cast<std::size_t>(kind)];
    return kind == section_kind::daemon ? "[" + word + "]"
                                        : "[" + word + "." + std::string(name) + "]";
}

}  // namespace culvert::config
