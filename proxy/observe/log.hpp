// The log: one line an event on stderr. Nothing here is read back by anybody.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace culvert::observe {

enum class log_level : std::uint8_t { error, warning, info, debug };

// For people, or for machines: an object of JSON a line.
enum class log_format : std::uint8_t { text, json };

// Begins as text. Where stderr is a stream to the journal, its lines begin with the level as
// journald understands it, <4>, and lines of text have no time: the journal has it.
void set_log_format(log_format format);
[[nodiscard]] bool logs_json() noexcept;

// Lines above this level are not written. Begins as info.
void set_log_level(log_level most) noexcept;
[[nodiscard]] bool logs(log_level level) noexcept;

// The daemon's stderr may be a pipe that others write to as well. From now on it is written through
// a description of our own, which may be non-blocking without changing theirs; so that even the
// line that takes the last room with theirs can't make us wait. Before the process changes its
// user.
void never_wait_for_readers() noexcept;

// Writes a line, made fit for a terminal: much of it comes from outside. Never throws, never waits
// for whoever reads stderr, and does not end the process when stderr is gone, where SIGPIPE is
// ignored. What could not be written is counted, and told once there is room again.
// `more` are further members for the object of a log of JSON, as JSON; where the line would become
// longer than what is written in one piece, they are left out.
void write_log(log_level level, std::string_view line, std::string_view more = {}) noexcept;

// The same for a line that has no time and no level.
void write_plain(std::string_view line) noexcept;

template <class... Arguments>
void log(log_level level, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (logs(level)) write_log(level, fmt::format(format, std::forward<Arguments>(arguments)...));
}

// Lets a kind of line through a few times in a while and counts the others, so that strangers
// can't fill the disk. For all threads.
class log_limit {
  public:
    explicit log_limit(unsigned lines = 5,
                       std::chrono::seconds per = std::chrono::seconds{10}) noexcept
        : lines_(lines), per_(per) {}

    // nullopt: write nothing. Else how many lines were held back since the last one.
    [[nodiscard]] std::optional<std::uint64_t> admit();

  private:
    const unsigned lines_;
    const std::chrono::steady_clock::duration per_;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point window_{};
    unsigned written_ = 0;
    std::uint64_t held_back_ = 0;
};

// What a line says of those that were held back before it; empty for none.
[[nodiscard]] std::string held_back_text(std::uint64_t lines);

// The same as log(), under a limit.
template <class... Arguments>
void log(log_limit& limit, log_level level, fmt::format_string<Arguments...> format,
         Arguments&&... arguments) {
    if (!logs(level)) return;
    const auto held_back = limit.admit();
    if (!held_back) return;
    write_log(level, fmt::format(format, std::forward<Arguments>(arguments)...) +
                         held_back_text(*held_back));
}

}  // namespace culvert::observe
