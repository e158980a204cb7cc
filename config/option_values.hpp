// Values of the option tables: each parses its text into the field it is bound to. The field must
// outlive the table. What is refused leaves as an exception, `refused`.
#pragma once

#include <boost/program_options/value_semantic.hpp>
#include <concepts>
#include <functional>
#include <optional>
#include <string>

#include "config/reason.hpp"
#include "config/values.hpp"

namespace culvert::config {

// Every option has a text as its value, so that the table can show defaults as one writes them.
using option_value = boost::program_options::typed_value<std::string>;

// `name` stands for the value in help. The first form refuses an empty text, `take` what it likes.
using take_text = std::function<void(const std::string&)>;
option_value* text_value(const std::string& name, take_text take);
option_value* text_or_nothing_value(const std::string& name, take_text take);

option_value* yes_no_value(bool& into);

option_value* seconds_value(seconds& into, seconds_range range);
option_value* seconds_or_off_value(std::optional<seconds>& into, seconds_range range);

template <std::unsigned_integral T>
option_value* count_value(T& into, count_range range) {
    return text_value("N, " + to_text(range), [&into, range](const std::string& text) {
        into = static_cast<T>(parse_count(text, range).value());
    });
}

}  // namespace culvert::config
