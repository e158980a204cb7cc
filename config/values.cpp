#include "config/values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace culvert::config {
namespace {

constexpr std::size_t longest_name = 255;
constexpr std::uint64_t kibi = 1024;
constexpr count_range rates{kibi, 100 * kibi* kibi* kibi};

// Digits only; what is too large for the type is its largest value, so that bounds still judge it.
std::optional<std::uint64_t> parse_digits(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {};
    if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
    return number;
}

std::optional<std::uint64_t> seconds_in(char unit) noexcept {
    switch (unit) {
        case 's':
            return 1;
        case 'm':
            return 60;
        case 'h':
            return 3600;
        default:
            return {};
    }
}

std::optional<std::uint64_t> bytes_in(char unit) noexcept {
    switch (unit) {
        case 'K':
        case 'k':
            return kibi;
        case 'M':
        case 'm':
            return kibi * kibi;
        case 'G':
        case 'g':
            return kibi * kibi * kibi;
        default:
            return {};
    }
}

std::uint64_t multiply_capped(std::uint64_t a, std::uint64_t b) noexcept {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    return a > most / b ? most : a * b;
}

// Digits, and perhaps a unit behind them.
std::optional<std::uint64_t> parse_quantity(
    std::string_view text, std::optional<std::uint64_t> (*factor_of)(char)) noexcept {
    std::uint64_t factor = 1;
    if (const auto unit = text.empty() ? std::nullopt : factor_of(text.back())) {
        factor = *unit;
        text.remove_suffix(1);
    }
    const auto number = parse_digits(text);
    if (!number) return {};
    return multiply_capped(*number, factor);
}

reason not_a_time(std::string_view text, std::string_view more) {
    return reason{quote(text) + " is not a time: write 10, 10s, 2m or 1h" + std::string(more)};
}

result<seconds> parse_time_within(std::string_view text, seconds_range range,
                                  std::string_view more_forms) {
    const auto time = parse_quantity(text, seconds_in);
    if (!time) return not_a_time(text, more_forms);
    if (*time < static_cast<std::uint64_t>(range.least.count()) ||
        *time > static_cast<std::uint64_t>(range.most.count())) {
        return reason{quote(text) + " is out of range: " + to_text(range.least) + " to " +
                      to_text(range.most) + " is accepted"};
    }
    return seconds(*time);
}

}  // namespace

std::string to_text(seconds time) {
    const auto count = time.count();
    if (count != 0 && count % 3600 == 0) return std::to_string(count / 3600) + "h";
    if (count != 0 && count % 60 == 0) return std::to_string(count / 60) + "m";
    return std::to_string(count) + "s";
}

std::string to_text(seconds_range range) {
    return to_text(range.least) + "-" + to_text(range.most);
}

std::string to_text(count_range range) {
    return std::to_string(range.least) + "-" + std::to_string(range.most);
}

result<seconds> parse_seconds(std::string_view text, seconds_range range) {
    if (text == "off") return reason{"'off' is not possible here: write 10, 10s, 2m or 1h"};
    return parse_time_within(text, range, "");
}

result<std::optional<seconds>> parse_seconds_or_off(std::string_view text, seconds_range range) {
    if (text == "off") return std::optional<seconds>();
    const result<seconds> time = parse_time_within(text, range, ", or off");
    if (!time) return time.error();
    return std::optional(*time);
}

result<std::uint64_t> parse_count(std::string_view text, count_range range) {
    const auto number = parse_digits(text);
    if (!number) return reason{quote(text) + " is not a whole number"};
    if (*number < range.least || *number > range.most) {
        return reason{quote(text) + " is out of range: " + std::to_string(range.least) + " to " +
                      std::to_string(range.most) + " is accepted"};
    }
    return *number;
}

result<std::uint64_t> parse_rate(std::string_view text) {
    const auto rate = parse_quantity(text, bytes_in);
    if (!rate) return reason{quote(text) + " is not a rate: write bytes a second, as 500K or 10M"};
    if (*rate < rates.least || *rate > rates.most) {
        return reason{quote(text) + " is out of range: 1K to 100G is accepted"};
    }
    return *rate;
}

result<std::string> parse_name(std::string_view text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    };
    if (!std::ranges::all_of(text, allowed)) {
        return reason{quote(text) + " is not a name: letters, digits, '.', '_' and '-' only"};
    }
    if (text.size() > longest_name) return reason{quote(text) + " is longer than 255 bytes"};
    return {boost::system::in_place_value, text};
}

}  // namespace culvert::config
