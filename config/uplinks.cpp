#include "config/uplinks.hpp"

#include "config/connect.hpp"
#include "config/lines.hpp"
#include "config/values.hpp"
#include "config/word_options.hpp"

namespace culvert::config {
namespace {

constexpr count_range weights{1, 256};

bool is_url(std::string_view word) noexcept {
    return word.find("://") != word.npos;
}

}  // namespace

std::vector<uplink> parse_uplinks(std::string_view text) {
    std::vector<uplink> made;
    unsigned weight = 1;
    word_options options({{"weight",
                           [&](const std::string& t) {
                               weight = static_cast<unsigned>(parse_count(t, weights).value());
                           }},
                          {"backup", nullptr}});
    while (!text.empty()) {
        const std::string_view word = next_word(text);
        // What comes first is meant to be a place, whatever it looks like.
        if (made.empty() || is_url(word))
            made.push_back(parse_connect(word).value());
        else
            options.take(word);
    }
    for (uplink& to : made) {
        to.weight = weight;
        to.backup = options.given("backup");
    }
    return made;
}

std::string line_of(const uplink& to) {
    return to_text(to) + (to.weight == 1 ? "" : " weight=" + std::to_string(to.weight)) +
           (to.backup ? " backup" : "");
}

bool same_way(const uplink& a, const uplink& b) {
    return to_text(a) == to_text(b);
}

}  // namespace culvert::config
