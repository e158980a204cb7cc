#include "proxy/observe/log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "proxy/observe/printable.hpp"

namespace culvert::observe {
namespace {

std::atomic<log_level> most_wanted{log_level::info};
std::atomic<log_format> wanted_format{log_format::text};

// Time, level and what else stands around the members in a line of JSON.
constexpr std::size_t around_members = 90;

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

// How journald wants to be told a level: the number of syslog.
class syslog_level final : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
                spdlog::memory_buf_t& into) override {
        into.push_back(number(message.level));
    }
    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<syslog_level>();
    }

  private:
    static char number(spdlog::level::level_enum level) noexcept {
        switch (level) {
            case spdlog::level::err:
                return '3';
            case spdlog::level::warn:
                return '4';
            case spdlog::level::info:
                return '6';
            default:
                return '7';
        }
    }
};

// systemd names the stream that it has made for us, which stderr need not be any more.
bool stderr_is_the_journal() noexcept {
    const char* const named = std::getenv("JOURNAL_STREAM");
    struct stat info {};
    if (named == nullptr || ::fstat(STDERR_FILENO, &info) != 0) return false;
    std::array<char, 64> ours{};
    const auto end = fmt::format_to_n(ours.data(), ours.size(), "{}:{}", info.st_dev, info.st_ino);
    return std::string_view(ours.data(), end.size) == named;
}

std::unique_ptr<spdlog::formatter> formatter_of(log_format format, bool journal) {
    std::string pattern = journal ? "<%*>" : "";
    if (format == log_format::json)
        pattern += R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";
    else
        pattern += journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %-7l %v";
    auto made = std::make_unique<spdlog::pattern_formatter>();
    made->add_flag<syslog_level>('*').set_pattern(pattern);
    return made;
}

// What stands for %v above.
std::string body_of(std::string_view line, std::string_view more = {}) {
    if (!logs_json()) return printable(line);
    std::string members = "\"message\":" + quoted_json(line);
    if (!more.empty() && members.size() + 1 + more.size() + around_members <= PIPE_BUF)
        members.append(",").append(more);
    return members;
}

// Where lines go. Nobody waits for a reader: what stderr has no room for is counted and left out.
class stderr_sink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    void use(int fd) {
        const std::scoped_lock lock(mutex_);
        fd_ = fd;
    }

    void write_plain(std::string_view line) {
        const std::scoped_lock lock(mutex_);
        if (!write(line)) ++lost_;
    }

  private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (lost_ > 0 && write_formatted({"", spdlog::level::warn, told_of_lost()})) lost_ = 0;
        if (lost_ > 0 || !write_formatted(message)) ++lost_;
    }
    void flush_() override {}

    [[nodiscard]] std::string told_of_lost() const {
        return body_of(fmt::format("log: {} lines are lost: nobody took them", lost_));
    }

    [[nodiscard]] bool write_formatted(const spdlog::details::log_msg& message) {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        return write({line.data(), line.size()});
    }

    // All of it or nothing, as a line is shorter than what a pipe takes at once. A socket need not
    // be asked first; the others are, as a terminal that is held up would make us wait.
    [[nodiscard]] bool write(std::string_view line) const noexcept {
        ssize_t done = ::send(fd_, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (done < 0 && errno == ENOTSOCK) {
            pollfd room{fd_, POLLOUT, 0};
            if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return false;
            done = ::write(fd_, line.data(), line.size());
        }
        return done > 0;
    }

    int fd_ = STDERR_FILENO;
    std::uint64_t lost_ = 0;
};

const std::shared_ptr<stderr_sink>& sink() {
    static const auto instance = std::make_shared<stderr_sink>();
    return instance;
}

spdlog::logger& logger() {
    static const auto instance = [] {
        auto made = std::make_shared<spdlog::logger>("culvert", sink());
        made->set_formatter(formatter_of(log_format::text, stderr_is_the_journal()));
        made->set_level(spdlog::level::debug);
        made->set_error_handler([](const std::string&) {});
        return made;
    }();
    return *instance;
}

}  // namespace

void set_log_level(log_level most) noexcept {
    most_wanted.store(most, std::memory_order_relaxed);
}

void set_log_format(log_format format) {
    wanted_format.store(format, std::memory_order_relaxed);
    logger().set_formatter(formatter_of(format, stderr_is_the_journal()));
}

bool logs_json() noexcept {
    return wanted_format.load(std::memory_order_relaxed) == log_format::json;
}

void never_wait_for_readers() noexcept {
    struct stat info {};
    if (::fstat(STDERR_FILENO, &info) != 0 || !S_ISFIFO(info.st_mode)) return;
    const int own = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (own >= 0) sink()->use(own);
}

bool logs(log_level level) noexcept {
    return level <= most_wanted.load(std::memory_order_relaxed);
}

void write_log(log_level level, std::string_view line, std::string_view more) noexcept {
    try {
        logger().log(to_spdlog(level), "{}", body_of(line, more));
    } catch (...) {
        // Without memory for a line there is nobody to tell.
    }
}

void write_plain(std::string_view line) noexcept {
    try {
        sink()->write_plain(logs_json() ? "{" + body_of(line) + "}\n" : body_of(line) + "\n");
    } catch (...) {
        // As above.
    }
}

std::string held_back_text(std::uint64_t lines) {
    return lines == 0 ? "" : fmt::format(" (and {} more lines like this)", lines);
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
