#include "bench/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "config/quote.hpp"

namespace culvert::load {
namespace {

using config::quote;

constexpr std::uint64_t largest_size = std::uint64_t{1} << 50;
constexpr std::uint64_t longest_duration = 24 * 3'600 * 1'000;  // ms

struct number {
    std::uint64_t value;
    std::string_view unit;
};

// Digits, and whatever stands behind them. Nothing when there are no digits or too many.
std::optional<number> split(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return {};
    return number{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

std::optional<unsigned> size_shift(std::string_view unit) noexcept {
    if (unit.empty()) return 0;
    if (unit == "K") return 10;
    if (unit == "M") return 20;
    if (unit == "G") return 30;
    return {};
}

std::optional<std::uint64_t> milliseconds_in(std::string_view unit) noexcept {
    if (unit == "ms") return 1;
    if (unit == "s" || unit.empty()) return 1'000;
    if (unit == "m") return 60'000;
    if (unit == "h") return 3'600'000;
    return {};
}

}  // namespace

result<std::uint64_t> parse_size(std::string_view text) {
    const auto parts = split(text);
    const auto shift = parts ? size_shift(parts->unit) : std::nullopt;
    if (!shift) return reason{quote(text) + " is not a size: write 1000, 64K, 1M or 1G"};
    if (parts->value == 0 || parts->value > (largest_size >> *shift))
        return reason{quote(text) + " is out of range: 1 to 1048576G is accepted"};
    return parts->value << *shift;
}

result<milliseconds> parse_duration(std::string_view text) {
    const auto parts = split(text);
    const auto factor = parts ? milliseconds_in(parts->unit) : std::nullopt;
    if (!factor) return reason{quote(text) + " is not a time: write 500ms, 10s, 2m or 1h"};
    if (parts->value == 0 || parts->value > longest_duration / *factor)
        return reason{quote(text) + " is out of range: 1ms to 24h is accepted"};
    return milliseconds(static_cast<std::int64_t>(parts->value * *factor));
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1'024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1'024;
    std::size_t unit = 0;
    while (value >= 1'024 && unit + 1 < units.size()) {
        value /= 1'024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string duration_text(milliseconds time) {
    const auto count = time.count();
    if (count % 1'000 != 0) return fmt::format("{}ms", count);
    if (count % 60'000 != 0) return fmt::format("{}s", count / 1'000);
    return fmt::format("{}m", count / 60'000);
}

double in_microseconds(nanoseconds time) noexcept {
    return std::chrono::duration<double, std::micro>(time).count();
}

double in_seconds(nanoseconds time) noexcept {
    return std::chrono::duration<double>(time).count();
}

double in_mebibytes(std::uint64_t bytes) noexcept {
    return static_cast<double>(bytes) / (1'024 * 1'024);
}

}  // namespace culvert::load
