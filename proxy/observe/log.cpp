#include "proxy/observe/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

namespace culvert::observe {
namespace {

std::atomic<log_level> most_wanted{log_level::info};

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
    switch (level) {
        case log_level::error:
            return spdlog::level::err;
        case log_level::warning:
            return spdlog::level::warn;
        case log_level::info:
            return spdlog::level::info;
        case log_level::debug:
            return spdlog::level::debug;
    }
    return spdlog::level::info;
}

spdlog::logger& logger() {
    static const auto instance = [] {
        auto made = spdlog::stderr_logger_mt("culvert");
        made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %-7l %v");
        made->set_level(spdlog::level::debug);
        made->flush_on(spdlog::level::debug);
        // A full disk or a closed pipe must not end the tunnels.
        made->set_error_handler([](const std::string&) {});
        return made;
    }();
    return *instance;
}

std::string escaped(std::string_view line) {
    std::string out;
    out.reserve(line.size());
    for (const char c : line) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f)
            out += c;
        else
            out += fmt::format("\\x{:02x}", byte);
    }
    return out;
}

}  // namespace

void set_log_level(log_level most) noexcept {
    most_wanted.store(most, std::memory_order_relaxed);
}

bool logs(log_level level) noexcept {
    return level <= most_wanted.load(std::memory_order_relaxed);
}

void write_log(log_level level, std::string_view line) noexcept {
    try {
        logger().log(to_spdlog(level), "{}", escaped(line));
    } catch (...) {
        // Without memory for a line there is nobody to tell.
    }
}

std::optional<std::uint64_t> log_limit::admit() {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - window_ >= per_) {
        window_ = now;
        written_ = 0;
    }
    if (written_ == lines_) {
        ++held_back_;
        return std::nullopt;
    }
    ++written_;
    return std::exchange(held_back_, 0);
}

}  // namespace culvert::observe
