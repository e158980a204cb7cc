#include "config/word_options.hpp"

#include <algorithm>

#include "config/nearest.hpp"
#include "config/quote.hpp"

namespace culvert::config {

void word_options::take(std::string_view word) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const bool alone = equals == word.size();
    const std::string name(word.substr(0, equals));
    const word_option& option = find(name);
    if (!given_.insert(name).second) throw refused("the option " + name + " stands here twice");
    if (alone != (option.take == nullptr))
        throw refused(alone ? "the option " + name + " needs a value: " + name + "=..."
                            : "the option " + name + " takes no value");
    if (alone) return;
    try {
        option.take(std::string(word.substr(equals + 1)));
    } catch (const refused& why) {
        throw refused(name + ": " + why.what());
    }
}

const word_option& word_options::find(const std::string& name) const {
    const auto at = std::ranges::find(known_, name, &word_option::name);
    if (at != known_.end()) return *at;
    std::vector<std::string> names;
    std::string list;
    for (const word_option& option : known_) {
        names.push_back(option.name);
        list += (list.empty() ? "" : ", ") + option.name;
    }
    throw refused("unknown option " + quote(name) + did_you_mean(name, names) +
                  " (accepted: " + list + ")");
}

}  // namespace culvert::config
