// Sizes, times and rates as people write and read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/reason.hpp"

namespace culvert::load {

using config::reason;
using config::result;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Bytes: 1000, 64K, 1M or 1G, in powers of 1024; from 1 to 2^50.
result<std::uint64_t> parse_size(std::string_view text);

// 500ms, 10s, 2m, 1h or a number of seconds; up to a day.
result<milliseconds> parse_duration(std::string_view text);

std::string size_text(std::uint64_t bytes);    // 17 B, 64.0 KiB, 1.5 GiB
std::string duration_text(milliseconds time);  // 500ms, 10s, 2m
double in_microseconds(nanoseconds time) noexcept;
double in_seconds(nanoseconds time) noexcept;
double in_mebibytes(std::uint64_t bytes) noexcept;

}  // namespace culvert::load
