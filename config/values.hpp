// The values of keys: times, counts and words.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/nearest.hpp"
#include "config/quote.hpp"
#include "config/reason.hpp"

namespace culvert::config {

using seconds = std::chrono::seconds;

struct seconds_range {
    seconds least;
    seconds most;
};

struct count_range {
    std::uint64_t least;
    std::uint64_t most;
};

std::string to_text(seconds time);         // 90s, 2m, 1h: the largest unit without a rest
std::string to_text(seconds_range range);  // 5s-5m
std::string to_text(count_range range);    // 1-256

// 10, 10s, 2m or 1h within the range, ends included.
result<seconds> parse_seconds(std::string_view text, seconds_range range);

// The same, or `off`.
result<std::optional<seconds>> parse_seconds_or_off(std::string_view text, seconds_range range);

// Digits only, within the range, ends included.
result<std::uint64_t> parse_count(std::string_view text, count_range range);

// Bytes a second, 1K to 100G: digits, then K, M or G for 2^10, 2^20 or 2^30, in either case.
result<std::uint64_t> parse_rate(std::string_view text);

// Names of services: 0–255 bytes of A–Z a–z 0–9 . _ -
result<std::string> parse_name(std::string_view text);

// A word of a closed set.
template <class T>
using choices = std::vector<std::pair<std::string, T>>;

template <class T>
result<T> parse_choice(std::string_view text, const choices<T>& known) {
    std::vector<std::string> names;
    std::string list;
    for (const auto& [name, meaning] : known) {
        if (text == name) return meaning;
        list += (list.empty() ? "" : ", ") + name;
        names.push_back(name);
    }
    return reason{"unknown value " + quote(text) + did_you_mean(text, names) +
                  " (accepted: " + list + ")"};
}

}  // namespace culvert::config
