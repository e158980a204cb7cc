#include "proxy/watch/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace culvert::watch {
namespace {

constexpr std::string_view gap = "   ";
constexpr std::size_t widest_word = 40;  // of a column that others stand behind

bool continues_character(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
}

// "3 d 4 h", and "3 d" when the smaller part is 0.
std::string two_units(std::uint64_t whole, std::uint64_t large, std::uint64_t small,
                      const char* unit, const char* part) {
    const std::uint64_t rest = whole % large / small;
    const std::string text = fmt::format("{} {}", whole / large, unit);
    return rest > 0 ? fmt::format("{} {} {}", text, rest, part) : text;
}

// Three digits, without zeros at the end.
std::string three_digits(double value) {
    const int decimals =
        value > 0 ? std::clamp(2 - static_cast<int>(std::floor(std::log10(value))), 0, 3) : 0;
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (decimals == 0) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace

std::string count_text(std::uint64_t count) {
    std::string digits = std::to_string(count);
    for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
    return digits;
}

std::string size_text(double bytes) {
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    for (; bytes >= 1'024 && unit + 1 < units.size(); ++unit) bytes /= 1'024;
    return fmt::format("{:.{}f} {}", bytes, unit == 0 || bytes >= 100 ? 0 : 1, units[unit]);
}

std::string rate_text(std::optional<double> bytes) {
    return bytes ? size_text(*bytes) + "/s" : "-";
}

std::string duration_text(double seconds) {
    if (seconds < 0.001) return three_digits(seconds * 1e6) + " µs";
    if (seconds < 1) return three_digits(seconds * 1e3) + " ms";
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3'600) return two_units(whole, 60, 1, "min", "s");
    if (whole < 86'400) return two_units(whole, 3'600, 60, "h", "min");
    return two_units(whole, 86'400, 3'600, "d", "h");
}

std::string number_text(std::optional<double> value) {
    if (!value) return "-";
    if (*value >= 1'000) return count_text(static_cast<std::uint64_t>(std::llround(*value)));
    return three_digits(*value);
}

std::size_t width_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

std::string cut(std::string_view text, std::size_t columns) {
    if (width_of(text) <= columns) return std::string(text);
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (!continues_character(text[i]) && ++seen > columns)
            return std::string(text.substr(0, i));
    return std::string(text);
}

table::table(std::vector<std::string> head) {
    for (std::string& name : head) {
        right_.push_back(name.starts_with('>'));
        if (right_.back()) name.erase(0, 1);
    }
    rows_.push_back(std::move(head));
}

void table::add(std::vector<std::string> row) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
        if (width_of(row[i]) > widest_word) row[i] = cut(row[i], widest_word - 3) + "...";
    rows_.push_back(std::move(row));
}

std::vector<std::string> table::lines() const {
    std::vector<std::size_t> widths(right_.size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    std::vector<std::string> out;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - width_of(row[i]), ' ');
            if (i > 0) line += gap;
            line += right_[i] ? space + row[i] : row[i] + space;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out.push_back(std::move(line));
    }
    return out;
}

}  // namespace culvert::watch
