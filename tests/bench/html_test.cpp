// The HTML report: axes, texts, what is read, what is shown.
#include <doctest/doctest.h>

#include <boost/json/serialize.hpp>
#include <string>

#include "bench/html/axis.hpp"
#include "bench/html/page.hpp"
#include "bench/report.hpp"

using namespace culvert::load;
using namespace culvert::load::html;
using namespace std::chrono_literals;

namespace {

std::string names_of(const axis& of) {
    std::string out;
    for (const auto& tick : of.ticks()) out += (out.empty() ? "" : " ") + tick.name;
    return out;
}

// 1,000 answers in 2 s; twice the MiB with `factor` 2.
boost::json::object told(double factor = 1) {
    plan what;
    what.mode = mode::latency;
    what.to.plain = {"127.0.0.1", 7'000, {}};
    what.command = "culvert-load latency --to 127.0.0.1:7000";
    outcome found;
    found.time = 2s;
    found.counts.requests = 1'000;
    found.counts.sent = static_cast<std::uint64_t>(factor * 1'048'576);
    for (int i = 1; i <= 1'000; ++i) found.latencies.record(std::chrono::microseconds(i));
    for (const auto time : {500ms, 1'000ms, 2'000ms}) {
        totals so_far;
        so_far.requests = static_cast<std::uint64_t>(time.count() / 2);
        so_far.open = 1;
        found.timeline.add(time, so_far);
    }
    found.machine = {"A <fast> processor", 2, 1 << 30, "Linux 6.1", 0.5};
    return json(what, found);
}

std::string refusal(const boost::json::object& object) {
    try {
        read_record(object, "x");
    } catch (const bad_record& error) {
        return error.what();
    }
    return "accepted";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("bench.html") {
    TEST_CASE("numbers have as many digits as are worth reading") {
        CHECK(short_number(0) == "0");
        CHECK(short_number(0.12345) == "0.123");
        CHECK(short_number(0.000001234) == "0.00000123");
        CHECK(short_number(2) == "2");
        CHECK(short_number(45.678) == "45.7");
        CHECK(short_number(1'234.5) == "1,234");
        CHECK(short_number(1'234.5, 5) == "1,234.5");
        CHECK(short_number(1'234'567) == "1,234,567");
        CHECK(short_number(-5.5) == "-5.5");
    }

    TEST_CASE("linear axes end at or above the highest value") {
        const axis of = axis::linear(1'130, {200, 0});
        CHECK(names_of(of) == "0 500 1,000 1,500");
        CHECK(of(0) == doctest::Approx(200));
        CHECK(of(1'500) == doctest::Approx(0));
        CHECK(of(750) == doctest::Approx(100));
        CHECK(of(9'999) == doctest::Approx(0));
        CHECK(names_of(axis::linear(0, {0, 1})) == "0 0.2 0.4 0.6 0.8 1");
        CHECK(names_of(axis::time(6.04, {0, 1})) == "0 2 4 6");
        CHECK(axis::time(8, {0, 100})(4) == doctest::Approx(50));
    }

    TEST_CASE("logarithmic axes mark decades, and what is between where there is room") {
        const axis of = axis::logarithmic(10, 1'000, {0, 100});
        CHECK(names_of(of) == "10 20 50 100 200 500 1,000");
        CHECK(of(100) == doctest::Approx(50));
        CHECK(names_of(axis::logarithmic(3, 40'000, {0, 1})) == "10 100 1,000 10,000");
        CHECK(axis::logarithmic(5, 5, {0, 1})(5) == doctest::Approx(0));
    }

    TEST_CASE("an axis of shares gives each nine the same room") {
        const axis of = axis::tail(0.9999, {0, 400});
        CHECK(names_of(of) == "0 50 90 99 99.9 99.99");
        CHECK(of(0.9) == doctest::Approx(100));
        CHECK(of(0.99) == doctest::Approx(200));
        CHECK(of(0.999) == doctest::Approx(300));
    }

    TEST_CASE("foreign text is never markup") {
        CHECK(escaped("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;'");
        CHECK(escaped("µ\x01\xff") == "µ\\x01\\xff");
    }

    TEST_CASE("steps are as wide as their time") {
        const auto corners = steps({0, 1, 3}, {5, 7});
        REQUIRE(corners.size() == 4);
        CHECK(corners[1].x == 1);
        CHECK(corners[1].y == 5);
        CHECK(corners[2].x == 1);
        CHECK(corners[3].x == 3);
        CHECK(corners[3].y == 7);
    }

    TEST_CASE("a record is what --json tells") {
        const record run = read_record(told(), "x");
        CHECK(run.mode == "latency");
        CHECK(run.requests == 1'000);
        CHECK(run.latency.at("p50") == doctest::Approx(500).epsilon(0.004));
        REQUIRE(run.timeline.size() == 4);
        CHECK(run.timeline.back().at == doctest::Approx(2));
        CHECK(run.timeline.back().requests == 1'000);
        double answers = 0;
        for (const double count : run.histogram) answers += count;
        CHECK(answers == 1'000);
        CHECK(run.quantiles.front().x == 0);
        CHECK(run.quantiles.back().y == doctest::Approx(1'000).epsilon(0.01));
    }

    TEST_CASE("what is no record is refused by the name of the field") {
        CHECK(refusal(told()) == "accepted");
        const boost::json::object whole = told();
        for (const auto& [name, value] : whole) {
            const std::string field(name);
            boost::json::object without = whole;
            without.erase(name);
            const bool needed = refusal(without) == "there is no '" + field + "'";
            const bool unused = refusal(without) == "accepted";
            CHECK_MESSAGE((needed || unused), field << ": " << refusal(without));
            boost::json::object wrong = whole;
            wrong[name] = nullptr;
            CHECK_MESSAGE((unused || has(refusal(wrong), "in '" + field + "'")), refusal(wrong));
        }
        boost::json::object negative = whole;
        negative["seconds"] = -1;
        CHECK(refusal(negative) == "there is a negative number in 'seconds'");
        boost::json::object uneven = whole;
        uneven["timeline"].as_object()["open"].as_array().pop_back();
        CHECK(refusal(uneven) == "there are columns of two lengths in 'timeline'");
        boost::json::object backwards = whole;
        backwards["timeline"].as_object()["seconds"].as_array()[1] = 7;
        CHECK(refusal(backwards) == "time does not rise in 'timeline'");
        boost::json::object certain = whole;
        certain["latency_quantiles_us"].as_array()[0].as_array()[0] = 1;
        CHECK(refusal(certain) == "there is something else than shares in 'latency_quantiles_us'");
    }

    TEST_CASE("a page of one run") {
        const std::string text = page({read_record(told(), "latency")});
        CHECK(has(text, "<code>culvert-load latency --to 127.0.0.1:7000</code>"));
        CHECK(has(text, "A &lt;fast&gt; processor, 2 CPUs, 1.0 GiB of memory, Linux 6.1"));
        CHECK(has(text, "<dd>500 <small>a second</small>"));
        CHECK(has(text, "Percentiles"));
        CHECK(!has(text, "ratios"));
        CHECK(!has(text, "http://127"));
        CHECK(!has(text, "<script"));
    }

    TEST_CASE("a page of several runs tells ratios to the first") {
        const std::string text = page({read_record(told(1), "first"), read_record(told(1.5), "<b>"),
                                       read_record(told(1), "c")});
        CHECK(has(text, "×1.5 better"));
        CHECK(has(text, "×1</small>"));
        CHECK(has(text, "&lt;b&gt;"));
        CHECK(!has(text, "<b>"));
    }

    TEST_CASE("a page of runs in which nothing came about") {
        plan what;
        const record nothing = read_record(json(what, outcome{}), "nothing");
        const std::string text = page({nothing, nothing});
        CHECK(has(text, "failed: nothing came through"));
        CHECK(!has(text, "nan"));
        CHECK(!has(text, "inf"));
    }
}
