#include "bench/report.hpp"

#include <doctest/doctest.h>

#include <boost/json/serialize.hpp>

#include "bench/progress.hpp"

using namespace culvert::load;
using namespace std::chrono_literals;

namespace {

outcome sample() {
    outcome found;
    found.counts.sent = 3 * 1'048'576;
    found.counts.received = 1'048'576;
    found.counts.requests = 100;
    for (int i = 1; i <= 100; ++i) found.latencies.record(std::chrono::microseconds(i));
    found.time = 2s;
    found.cpu_seconds = 0.5;
    return found;
}

plan latency_plan() {
    plan what;
    what.mode = mode::latency;
    what.to.plain = {"127.0.0.1", 7'000, {}};
    return what;
}

}  // namespace

TEST_SUITE("bench.report") {
    TEST_CASE("one JSON object holds everything") {
        const auto out = json(latency_plan(), sample());
        CHECK(out.at("mode") == "latency");
        CHECK(out.at("parameters").at("to") == "127.0.0.1:7000");
        CHECK(out.at("bytes").to_number<int>() == 4 * 1'048'576);
        CHECK(out.at("mib_per_second").to_number<double>() == doctest::Approx(2));
        CHECK(out.at("requests_per_second").to_number<double>() == doctest::Approx(50));
        CHECK(out.at("latency_us").at("p50").to_number<double>() ==
              doctest::Approx(50).epsilon(0.004));
        CHECK(out.at("latency_us").at("max").to_number<double>() == doctest::Approx(100));
        CHECK(out.at("cpu_seconds").to_number<double>() == doctest::Approx(0.5));
        CHECK(out.at("failures").to_number<int>() == 0);
        CHECK(out.at("integrity") == "ok");
    }

    TEST_CASE("failures are counted by reason; the first of integrity is the verdict") {
        outcome found = sample();
        found.failures.add(failure(failure_kind::connection, "refused"));
        found.failures.add(failure(failure_kind::connection, "refused"));
        CHECK(integrity_text(found) == "ok");
        CHECK(!succeeded(found));
        found.failures.add(failure(failure_kind::integrity, "cut"));
        CHECK(integrity_text(found) == "failed: cut");
        const auto out = json(latency_plan(), found);
        CHECK(out.at("errors").at("refused").to_number<int>() == 2);
        CHECK(table(latency_plan(), found).find("2  refused") != std::string::npos);
    }

    TEST_CASE("many reasons don't fill the memory") {
        failure_list list;
        for (int i = 0; i < 1'000; ++i)
            list.add(failure(failure_kind::connection, std::to_string(i)));
        CHECK(list.count() == 1'000);
        CHECK(list.reasons().size() <= 17);
    }

    TEST_CASE("a line of progress is the difference of two seconds") {
        const outcome found = sample();
        const std::string line = progress::line(2, {}, found.counts);
        CHECK(line.find("up      3.0 MiB/s") != line.npos);
        CHECK(line.find("100 requests/s") != line.npos);
        CHECK(progress::line(3, found.counts, found.counts).find("up      0.0") != line.npos);
    }
}
