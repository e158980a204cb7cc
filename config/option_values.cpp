#include "config/option_values.hpp"

#include <boost/program_options.hpp>
#include <utility>

namespace culvert::config {

option_value* text_value(const std::string& name, take_text take) {
    return text_or_nothing_value(name, [name, take = std::move(take)](const std::string& text) {
        if (text.empty()) throw refused("the value is missing: write " + name);
        take(text);
    });
}

option_value* text_or_nothing_value(const std::string& name, take_text take) {
    return boost::program_options::value<std::string>()->value_name(name)->notifier(
        std::move(take));
}

option_value* yes_no_value(bool& into) {
    static const choices<bool> answers{{"yes", true}, {"no", false}};
    return text_value("yes or no", [&into](const std::string& text) {
        into = parse_choice(text, answers).value();
    });
}

option_value* seconds_value(seconds& into, seconds_range range) {
    return text_value("TIME, " + to_text(range), [&into, range](const std::string& text) {
        into = parse_seconds(text, range).value();
    });
}

option_value* seconds_or_off_value(std::optional<seconds>& into, seconds_range range) {
    return text_value("TIME, " + to_text(range) + " or off", [&into, range](const auto& text) {
        into = parse_seconds_or_off(text, range).value();
    });
}

}  // namespace culvert::config
