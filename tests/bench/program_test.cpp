// The program itself: exit status, what it prints where, signals.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <boost/json/parse.hpp>
#include <cstdio>
#include <string>

#include "tests/bench/free_port.hpp"
#include "tests/bench/meddler.hpp"

using namespace culvert::load;
using namespace culvert::load::testing;

namespace {

struct finished {
    int status;
    std::string output;
};

std::string read_line(FILE* from) {
    std::array<char, 4'096> line{};
    return std::fgets(line.data(), line.size(), from) != nullptr ? line.data() : "";
}

finished shell(const std::string& command) {
    FILE* const running = ::popen(command.c_str(), "r");
    finished out{0, {}};
    for (std::string line = read_line(running); !line.empty(); line = read_line(running))
        out.output += line;
    out.status = WEXITSTATUS(::pclose(running));
    return out;
}

finished culvert_load(const std::string& arguments) {
    return shell(CULVERT_LOAD " " + arguments);
}

}  // namespace

TEST_SUITE("bench.program") {
    TEST_CASE("0 and a table") {
        const backend there(on_free_port());
        const auto done =
            culvert_load("bulk --to " + there.address().text() + " --duration 200ms 2>&1");
        CHECK(done.status == 0);
        CHECK(done.output.find("integrity  ok") != done.output.npos);
    }

    TEST_CASE("0 and JSON on stdout, with nothing else there") {
        const backend there(on_free_port());
        const auto done = culvert_load("latency --to " + there.address().text() +
                                       " --duration 1100ms --json 2>/dev/null");
        CHECK(done.status == 0);
        const auto out = boost::json::parse(done.output);
        CHECK(out.at("mode") == "latency");
        CHECK(out.at("requests").to_number<int>() > 0);
        CHECK(out.at("integrity") == "ok");
    }

    TEST_CASE("a report of a run, and of results side by side") {
        const backend there(on_free_port());
        const std::string folder = shell("mktemp -d").output;
        const std::string at = folder.substr(0, folder.size() - 1);
        const auto one =
            culvert_load("latency --quiet --json --duration 300ms --to " + there.address().text() +
                         " --report " + at + "/one.html >" + at + "/one.json 2>&1");
        CHECK(one.status == 0);
        CHECK(shell("grep -c '<svg' " + at + "/one.html").output == "4\n");
        CHECK(culvert_load("report " + at + "/one.json " + at + "/one.json --output " + at +
                           "/both.html 2>&1")
                  .status == 0);
        CHECK(shell("grep -c 'ratios are to' " + at + "/both.html").output == "1\n");
        CHECK(shell("rm -r " + at).status == 0);
    }

    TEST_CASE("2 when a report can't be written, before the run, or made") {
        const backend there(on_free_port());
        const auto early = culvert_load("bulk --duration 1h --report /nowhere/x.html --to " +
                                        there.address().text() + " 2>&1");
        CHECK(early.status == 2);
        CHECK(early.output.find("'/nowhere/x.html': No such file") != early.output.npos);
        const auto absent = culvert_load("report /nowhere/a.json --output x.html 2>&1");
        CHECK(absent.status == 2);
        CHECK(
            absent.output.find("'/nowhere/a.json' is no result of culvert-load --json: No such") !=
            absent.output.npos);
        const auto other = culvert_load("report /etc/passwd --output x.html 2>&1");
        CHECK(other.status == 2);
        CHECK(other.output.find("it is no JSON object") != other.output.npos);
    }

    TEST_CASE("--marks says on stderr when the measured part begins and ends, in every mode") {
        const backend there(on_free_port());
        for (const char* mode : {"bulk --warm-up 100ms", "latency", "churn", "idle"}) {
            const auto done =
                culvert_load(std::string(mode) + " --marks --quiet --json --duration 200ms --to " +
                             there.address().text() + " 2>&1 >/dev/null");
            CHECK(done.status == 0);
            CHECK(done.output == "begin\nend\n");
        }
    }

    TEST_CASE("1 when a byte is changed, or nothing listens") {
        const backend there(on_free_port());
        const meddler between(there.address(), {true, 1'000'000, harm::flip});
        const auto harmed = culvert_load("bulk --direction down --duration 2s --quiet --to " +
                                         between.address().text());
        CHECK(harmed.status == 1);
        CHECK(harmed.output.find("failed: wrong data: byte 1000000") != harmed.output.npos);
        const auto lost = culvert_load("churn --to " + free_address().text() + " 2>&1");
        CHECK(lost.status == 1);
        CHECK(lost.output.find("does anything listen there?") != lost.output.npos);
    }

    TEST_CASE("2 for a wrong command line, 0 for help") {
        CHECK(culvert_load("2>&1").status == 2);
        CHECK(culvert_load("bulk 2>&1").status == 2);
        CHECK(culvert_load("--help").status == 0);
        CHECK(culvert_load("churn --help").status == 0);
    }

    TEST_CASE("SIGINT ends a run early, with the table so far") {
        const backend there(on_free_port());
        for (const char* mode : {"bulk", "latency", "latency --rate 1", "churn", "idle"}) {
            const auto done =
                shell("timeout --preserve-status -s INT 0.3 " CULVERT_LOAD " " + std::string(mode) +
                      " --quiet --duration 60s --to " + there.address().text());
            INFO(done.output);
            CHECK(done.status == 0);
            CHECK(done.output.find("integrity  ok") != done.output.npos);
        }
    }

    TEST_CASE("serve takes port 0 and says which one it got") {
        FILE* const serving = ::popen("echo $$; exec " CULVERT_LOAD " serve 127.0.0.1:0 2>&1", "r");
        const pid_t process = std::stoi(read_line(serving));
        const std::string line = read_line(serving);
        const std::string before = "listening on ";
        REQUIRE(line.starts_with(before + "127.0.0.1:"));
        const std::string address = line.substr(before.size(), line.size() - before.size() - 1);
        CHECK(culvert_load("bulk --quiet --bytes 1M --to " + address).status == 0);
        ::kill(process, SIGUSR1);
        CHECK(read_line(serving) == "so far 1048576 bytes received, 0 sent\n");
        ::kill(process, SIGTERM);
        CHECK(read_line(serving).starts_with("served 1 connections: 1.0 MiB received"));
        CHECK(WEXITSTATUS(::pclose(serving)) == 0);
    }

    TEST_CASE("serve says when it cannot listen") {
        const backend there(on_free_port());
        const auto done = culvert_load("serve " + there.address().text() + " 2>&1");
        CHECK(done.status == 1);
        CHECK(done.output.find("cannot listen on") != done.output.npos);
    }
}
