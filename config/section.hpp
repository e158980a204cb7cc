// What is remembered of a section beside its values: where things stood.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace culvert::config {

struct section_place {
    std::string heading;  // [server.edge]
    unsigned line = 0;
    std::map<std::string, unsigned, std::less<>> keys;  // the line that first gave each
    std::set<std::string, std::less<>> misspelt;        // keys that a mistake probably meant
    std::set<std::string, std::less<>> refused;         // keys whose value was no good

    // There, or meant to be: one mistake should not be told twice.
    [[nodiscard]] bool has(std::string_view key) const {
        return keys.contains(key) || misspelt.contains(key);
    }
    // Of the key if it is there, else of the heading.
    [[nodiscard]] unsigned line_of(std::string_view key) const {
        const auto found = keys.find(key);
        return found == keys.end() ? line : found->second;
    }
};

}  // namespace culvert::config
