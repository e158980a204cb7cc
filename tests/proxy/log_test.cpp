// What reaches stderr, and what does not.
#include "proxy/observe/log.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

using namespace culvert::observe;
using namespace std::chrono_literals;

namespace {

enum what { blocking, over_socket };

// stderr goes into a pipe, or a socket, that blocks its writer, while it lives.
class captured {
  public:
    explicit captured(what kind = blocking) : before_(::dup(STDERR_FILENO)) {
        const int made = kind == blocking
                             ? ::pipe2(pipe_.data(), O_CLOEXEC)
                             : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipe_.data());
        if (made == 0) ::dup2(pipe_[1], STDERR_FILENO);
        ::fcntl(pipe_[0], F_SETFL, O_NONBLOCK);
    }
    ~captured() {
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
        ::close(pipe_[0]);
        ::close(pipe_[1]);
    }
    captured(const captured&) = delete;
    captured& operator=(const captured&) = delete;

    std::string text() {
        static std::array<char, 1 << 20> memory;
        const ssize_t size = ::read(pipe_[0], memory.data(), memory.size());
        return size > 0 ? std::string(memory.data(), static_cast<std::size_t>(size)) : "";
    }
    void close_reader() { ::close(std::exchange(pipe_[0], ::open("/dev/null", O_RDONLY))); }

  private:
    int before_;
    std::array<int, 2> pipe_{};
};

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_SUITE("log") {
    TEST_CASE("a line has a time, a level and the text") {
        captured out;
        log(log_level::warning, "{} of {}", 1, "two");
        const std::string text = out.text();
        CHECK(lines_of(text) == 1);
        CHECK(text.find("warning 1 of two\n") != std::string::npos);
        CHECK(text.find("T") == 10);
    }

    TEST_CASE("control characters are escaped: no line can be forged") {
        captured out;
        log(log_level::error, "{}", std::string("a\nb\r\t\x1b[31m\x7f{}", 13) + '\0' + "\xc3\xa4");
        const std::string text = out.text();
        CHECK(lines_of(text) == 1);
        CHECK(text.find("a\\x0ab\\x0d\\x09\\x1b[31m\\x7f{}\\x00\xc3\xa4\n") != std::string::npos);
    }

    TEST_CASE("JSON: an object a line, whatever the text") {
        captured out;
        set_log_format(log_format::json);
        CHECK(logs_json());
        log(log_level::warning, "{}", "a \"quoted\" \\ \n\x1b\xff \xc3\xa4");
        write_log(log_level::info, "with more", R"("bytes":7)");
        write_log(log_level::info, "too much more", "\"x\":\"" + std::string(4'000, 'x') + '"');
        log(log_level::error, "{}", std::string(3'000, '\\'));
        write_plain("a note");
        set_log_format(log_format::text);
        log(log_level::info, "text again");
        const std::string text = out.text();
        CHECK(text.find(R"("level":"warning","message":"a \"quoted\" \\ \\x0a\\x1b\\xff )"
                        "\xc3\xa4\"}\n") != std::string::npos);
        CHECK(text.find(R"("level":"info","message":"with more","bytes":7})"
                        "\n") != std::string::npos);
        CHECK(text.find("\"too much more\"}\n") != std::string::npos);
        CHECK(text.find("info    text again\n") != std::string::npos);
        CHECK(text.find("\n{\"message\":\"a note\"}\n") != std::string::npos);
        CHECK(lines_of(text) == 6);
        for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1)
            CHECK(end + 1 - at <= PIPE_BUF);
    }

    TEST_CASE("the journal is told the level, and has a time of its own") {
        captured out(over_socket);
        struct stat info {};
        REQUIRE(::fstat(STDERR_FILENO, &info) == 0);
        const auto stream = fmt::format("{}:{}", info.st_dev, info.st_ino);
        ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
        set_log_format(log_format::text);
        log(log_level::error, "e");
        log(log_level::warning, "w");
        log(log_level::info, "i");
        CHECK(out.text() == "<3>e\n<4>w\n<6>i\n");
        set_log_format(log_format::json);
        log(log_level::warning, "w");
        CHECK(out.text().starts_with("<4>{\"time\":\""));
        ::setenv("JOURNAL_STREAM", (stream + "0").c_str(), 1);
        set_log_format(log_format::text);
        log(log_level::warning, "w");
        CHECK(out.text().find("warning w\n") != std::string::npos);
        ::unsetenv("JOURNAL_STREAM");
        set_log_format(log_format::text);
    }

    TEST_CASE("levels") {
        captured out;
        set_log_level(log_level::warning);
        CHECK(logs(log_level::error));
        CHECK_FALSE(logs(log_level::info));
        log(log_level::info, "not this");
        log(log_level::warning, "but this");
        set_log_level(log_level::debug);
        log(log_level::debug, "and this");
        set_log_level(log_level::info);
        const std::string text = out.text();
        CHECK(lines_of(text) == 2);
        CHECK(text.find("not this") == std::string::npos);
    }

    TEST_CASE("a limit lets some through, and says later how many it held back") {
        captured out;
        log_limit limit(3, 1s);
        for (int i = 0; i < 10; ++i) log(limit, log_level::warning, "line {}", i);
        CHECK(lines_of(out.text()) == 3);
        std::this_thread::sleep_for(1'050ms);
        log(limit, log_level::warning, "again");
        log(limit, log_level::warning, "and again");
        const std::string text = out.text();
        CHECK(text.find("again (and 7 more lines like this)\n") != std::string::npos);
        CHECK(text.find("and again\n") != std::string::npos);
        // Lines that are not wanted use nothing up.
        log_limit unused(1, 1s);
        log(unused, log_level::debug, "x");
        CHECK(unused.admit() == 0);
    }

    TEST_CASE("a limit counts right for several threads") {
        log_limit limit(5, 1h);
        std::atomic<int> admitted{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 1'000; ++i) admitted += limit.admit().has_value() ? 1 : 0;
            });
        for (auto& thread : threads) thread.join();
        CHECK(admitted == 5);
    }

    TEST_CASE("a pipe that nobody reads makes nobody wait; what is lost is told") {
        captured out(blocking);
        for (int i = 0; i < 2'000; ++i) log(log_level::error, "{}", std::string(100, 'x'));
        const std::string before = out.text();
        CHECK(lines_of(before) > 100);
        CHECK(lines_of(before) < 2'000);
        log(log_level::error, "there is room again");
        const std::string after = out.text();
        CHECK(lines_of(after) == 2);
        CHECK(after.find(fmt::format("log: {} lines are lost", 2'000 - lines_of(before))) !=
              std::string::npos);
        CHECK(after.find("there is room again") != std::string::npos);
    }

    TEST_CASE("a pipe whose reader has gone does no harm") {
        std::signal(SIGPIPE, SIG_IGN);
        captured out(blocking);
        out.close_reader();
        for (int i = 0; i < 10; ++i) log(log_level::error, "nobody reads this");
    }

    TEST_CASE("a socket that nobody reads makes nobody wait") {
        captured out(over_socket);
        for (int i = 0; i < 20'000; ++i) log(log_level::error, "{}", std::string(100, 'x'));
        out.close_reader();
        log(log_level::error, "nobody reads this");
    }
}
