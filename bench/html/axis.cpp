#include "bench/html/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace culvert::load::html {
namespace {

constexpr double smallest_room = 1e-9;

double same(double value) {
    return value;
}

double nines(double share) {
    return -std::log10(1 - share);
}

// 1, 2 or 5 times a power of ten, of which about five make `whole`.
double step_for(double whole) {
    const double raw = whole / 5;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= raw * (1 - smallest_room)) return factor * power;
    return 10 * power;
}

std::string with_thousands(std::string digits) {
    const std::size_t point = std::min(digits.find('.'), digits.size());
    for (std::size_t i = point; i > 3;) digits.insert(i -= 3, ",");
    return digits;
}

}  // namespace

std::string short_number(double value, int digits) {
    if (!(std::abs(value) >= 1e-9)) return "0";
    const bool negative = value < 0;
    value = std::abs(value);
    const int decimals =
        std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(value))), 0, 11);
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (decimals > 0) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.')) text.pop_back();
    }
    return (negative ? "-" : "") + with_thousands(text);
}

axis::axis(transform scale, double low, double high, extent paper)
    : scale_(scale), low_(scale(low)), high_(scale(high)), paper_(paper) {
    if (high_ - low_ < smallest_room) high_ = low_ + 1;
}

double axis::operator()(double value) const {
    const double part = std::clamp((scale_(value) - low_) / (high_ - low_), 0.0, 1.0);
    return paper_.from + part * (paper_.to - paper_.from);
}

void axis::mark(double value, std::string name) {
    ticks_.push_back({(*this)(value), std::move(name)});
}

axis axis::linear(double highest, extent paper) {
    if (highest <= 0) highest = 1;
    const double step = step_for(highest);
    const double steps = std::max(1.0, std::ceil(highest / step - smallest_room));
    axis made(same, 0, step * steps, paper);
    for (double i = 0; i <= steps; ++i) made.mark(step * i, short_number(step * i));
    return made;
}

axis axis::time(double last, extent paper) {
    axis made(same, 0, last, paper);
    if (last <= 0) return made;
    const double step = step_for(last);
    for (double i = 0; step * i <= last * (1 + smallest_room); ++i)
        made.mark(step * i, short_number(step * i));
    return made;
}

axis axis::logarithmic(double lowest, double highest, extent paper) {
    axis made(std::log10, lowest, highest, paper);
    const double decades = std::log10(highest / lowest);
    const int every = std::max(1, static_cast<int>(decades / 6));
    const bool between = decades < 3;
    const auto is_there = [&](double value) {
        return value >= lowest * (1 - smallest_room) && value <= highest * (1 + smallest_room);
    };
    const int first = static_cast<int>(std::floor(std::log10(lowest)));
    for (int power = first; std::pow(10, power) <= highest; power += every)
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double value = factor * std::pow(10, power);
            if (is_there(value) && (between || factor == 1.0))
                made.mark(value, short_number(value));
        }
    return made;
}

axis axis::tail(double highest, extent paper) {
    struct named {
        double share;
        const char* name;
    };
    static constexpr std::array marks{
        named{0, "0"},        named{0.5, "50"},       named{0.9, "90"},        named{0.99, "99"},
        named{0.999, "99.9"}, named{0.9999, "99.99"}, named{0.99999, "99.999"}};
    axis made(nines, 0, highest, paper);
    for (const auto& [share, name] : marks)
        if (share <= highest * (1 + smallest_room)) made.mark(share, name);
    return made;
}

}  // namespace culvert::load::html
