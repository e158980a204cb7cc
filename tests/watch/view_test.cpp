#include "proxy/watch/view.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "proxy/watch/words.hpp"
#include "tests/watch/sample.hpp"

using namespace culvert::watch;
using testing::status_text;

namespace {

std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const auto& line : lines) out += line + "\n";
    return out;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
}

struct watched {
    reading before = read_status(status_text(0, 100));
    reading now = read_status(status_text(2'048, 101));
    rates since{before, now};
    throughput_history throughput{0, {}, 50, 100};

    [[nodiscard]] std::vector<std::string> on(size fitting, std::string trouble = {}) const {
        return screen({now, since, throughput, std::move(trouble), true}, fitting);
    }
};

}  // namespace

TEST_SUITE("watch.view") {
    TEST_CASE("the summary tells what was counted since the daemon began") {
        const std::string text = joined(summary(read_status(status_text())));
        CHECK(has(text, "culvert 0.1.0 (culvert/1), process 42, up 1 d 1 h: ready"));
        CHECK(has(text, "5 now, 1,205 ever, 12 failed"));
        CHECK(has(text, "1.0 KiB to the tunnel, 2.0 KiB from it"));
        CHECK(has(text, "100, 9 failed; half within 1.5 ms, 99 % within 1.99 ms"));
        CHECK(has(text, "4 kept ready by clients, 1 not proven"));
        CHECK(has(text, "3.0 MiB of memory, 40 of 1,024 files"));
        CHECK(has(text, "\n  redis "));
        CHECK(has(text, "127.0.0.1:6379 (default)\n"));
        CHECK(has(text, "127.0.0.1:6380 to default at tcp://edge:7700, 3 of 4 ready\n"));
        CHECK(has(text, "\nbackend unreachable         12   server.edge\n"));
        CHECK(!has(text, "\x1b"));
    }

    TEST_CASE("a daemon with nothing to tell") {
        const std::string text = joined(summary(read_status(R"({"schema": 1})")));
        CHECK(has(text, ": starting"));
        CHECK(has(text, "handshakes  0, 0 failed; none"));
        CHECK(!has(text, "SECTION"));
    }

    TEST_CASE("the screen tells what happens now") {
        const std::string text = joined(watched().on({200, 50}));
        CHECK(has(text, "2,048/s new, 2,048/s failed; handshakes 2,048/s failed"));
        CHECK(has(text, "throughput  2.0 KiB/s to the tunnel, 2.0 KiB/s from it"));
        CHECK(has(text,
                  "\n              \xe2\x96\x84"));  // nothing for 0 and for unknown; half a block
        CHECK(has(text, "+2,048"));
        CHECK(has(text, "laptop\\x1b[31m"));
    }

    TEST_CASE("it fits into any terminal") {
        const watched some;
        for (const std::size_t columns : {1U, 20U, 80U, 300U})
            for (std::size_t rows = 1; rows < 40; ++rows) {
                const auto lines = some.on({columns, rows}, "gone");
                CHECK(lines.size() <= rows);
                CHECK(std::ranges::all_of(
                    lines, [&](const auto& line) { return width_of(line) <= columns; }));
            }
    }

    TEST_CASE("what does not fit is told") {
        const auto lines = watched().on({80, 11});
        CHECK(lines.size() == 11);
        CHECK(lines.back() == "and 2 more");
    }

    TEST_CASE("without an answer the last reading stays, and the reason stands above it") {
        const auto lines = watched().on({80, 24}, "127.0.0.1:7790: Connection refused");
        CHECK(lines[1] == "NO ANSWER: 127.0.0.1:7790: Connection refused");
        CHECK(has(joined(lines), "server.edge"));
    }
}
