#include "bench/html/plots.hpp"

#include <algorithm>
#include <cmath>

#include "bench/html/plot.hpp"

namespace culvert::load::html {
namespace {

constexpr double bytes_per_mib = 1'048'576;
constexpr std::size_t most_steps = 160;  // that a plot can show side by side

// Something that is counted, of which a plot shows how much came a second.
struct quantity {
    std::string name;
    double (*of)(const sample&);
};

struct stepped {
    std::vector<double> edges;
    std::vector<double> values;
};

// So many moments make one step.
std::size_t moments_a_step(const record& run) noexcept {
    return run.timeline.size() / most_steps + 1;
}

stepped rates(const record& run, const quantity& what) {
    stepped out;
    if (run.timeline.empty()) return out;
    const sample* before = &run.timeline.front();
    out.edges.push_back(before->at);
    const std::size_t stride = moments_a_step(run);
    const std::size_t last = run.timeline.size() - 1;
    for (std::size_t i = std::min(stride, last); i > 0; i = std::min(i + stride, last)) {
        const sample& now = run.timeline[i];
        out.values.push_back((what.of(now) - what.of(*before)) / (now.at - before->at));
        out.edges.push_back(now.at);
        before = &now;
        if (i == last) break;
    }
    return out;
}

double longest(const std::vector<record>& runs) noexcept {
    double time = 0;
    for (const record& run : runs)
        if (!run.timeline.empty()) time = std::max(time, run.timeline.back().at);
    return time;
}

double highest(const std::vector<curve>& curves) noexcept {
    double value = 0;
    for (const curve& one : curves)
        for (const point& at : one.points) value = std::max(value, at.y);
    return value;
}

bool has_some(const record& run, const quantity& what) {
    return !run.timeline.empty() && what.of(run.timeline.back()) > 0;
}

// What counts of a single run: the rest, warm-up and the end, is dimmed.
std::optional<extent> counted_part(const std::vector<record>& runs) {
    if (runs.size() != 1) return {};
    const record& run = runs.front();
    return extent{run.counted_from, run.counted_from + run.seconds};
}

std::string over_time(const char* title, const char* about, const char* unit,
                      const std::vector<record>& runs, std::vector<curve> curves) {
    if (curves.empty()) return {};
    const double top = std::max(highest(curves), 5.0);  // half a connection is no mark
    const bool filled = curves.size() == 1;
    return draw({title, about, "seconds", unit, axis::time(longest(runs), across),
                 axis::linear(top, upwards), std::move(curves), counted_part(runs), filled});
}

// A line a run; a single one has a line for each of the quantities.
std::vector<curve> curves_of(const std::vector<record>& runs, const quantity& whole,
                             const std::vector<quantity>& parts) {
    std::vector<curve> out;
    const auto add = [&](const record& run, const quantity& what, const std::string& name,
                         std::size_t colour) {
        if (!has_some(run, what)) return;
        const stepped found = rates(run, what);
        out.push_back({name, steps(found.edges, found.values), colour});
    };
    if (runs.size() == 1) {
        for (std::size_t i = 0; i < parts.size(); ++i) add(runs[0], parts[i], parts[i].name, i);
        return out;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) add(runs[i], whole, runs[i].name, i);
    return out;
}

std::vector<record> of_mode(const std::vector<record>& runs, bool (*wanted)(const std::string&)) {
    std::vector<record> out = runs;
    for (record& run : out)
        if (!wanted(run.mode)) run.timeline.clear();
    return out;
}

std::string throughput(const std::vector<record>& runs) {
    const auto bulk = of_mode(runs, [](const std::string& mode) { return mode == "bulk"; });
    const quantity sent{"sent", [](const sample& s) { return s.sent / bytes_per_mib; }};
    const quantity received{"received", [](const sample& s) { return s.received / bytes_per_mib; }};
    const quantity both{"", [](const sample& s) { return (s.sent + s.received) / bytes_per_mib; }};
    return over_time("Throughput", "over the time of the run", "MiB/s", bulk,
                     curves_of(bulk, both, {sent, received}));
}

std::string answers(const std::vector<record>& runs) {
    const auto asking = of_mode(runs, [](const std::string& mode) { return mode != "bulk"; });
    const quantity all{"answers", [](const sample& s) { return s.requests; }};
    return over_time("Answers", "a second, over the time of the run", "/s", asking,
                     curves_of(asking, all, {all}));
}

std::string failures(const std::vector<record>& runs) {
    const quantity all{"failures", [](const sample& s) { return s.failures; }};
    return over_time("Failures", "a second, over the time of the run", "/s", runs,
                     curves_of(runs, all, {all}));
}

// No rate: how many there were at each moment.
std::string open_connections(const std::vector<record>& runs) {
    std::vector<curve> curves;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        curve one{runs[i].name, {}, i};
        for (std::size_t j = 0; j < runs[i].timeline.size(); j += moments_a_step(runs[i]))
            one.points.push_back({runs[i].timeline[j].at, runs[i].timeline[j].open});
        if (!one.points.empty()) curves.push_back(std::move(one));
    }
    return over_time("Connections", "open, over the time of the run", "open", runs,
                     std::move(curves));
}

std::vector<curve> quantile_curves(const std::vector<record>& runs) {
    std::vector<curve> out;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        curve one{runs[i].name, runs[i].quantiles, i};
        std::erase_if(one.points, [](const point& at) { return at.y <= 0; });
        if (one.points.size() > 1) out.push_back(std::move(one));
    }
    return out;
}

std::string quantiles(const std::vector<record>& runs) {
    std::vector<curve> curves = quantile_curves(runs);
    if (curves.empty()) return {};
    double share = 0;
    double low = curves.front().points.front().y;
    for (const curve& one : curves) {
        share = std::max(share, one.points.back().x);
        low = std::min(low, one.points.front().y);
    }
    const double high = std::max(highest(curves), low * 2);
    return draw({"Percentiles",
                 "the time within which so many of all answers came",
                 "% of answers",
                 "µs",
                 axis::tail(share, across),
                 axis::logarithmic(low, high, upwards),
                 std::move(curves),
                 {},
                 false});
}

// The share of answers in each bucket, as %.
stepped shares(const record& run) {
    stepped out;
    double sum = 0;
    for (const double count : run.histogram) sum += count;
    if (sum <= 0) return out;
    const auto edge = [&](std::size_t i) {
        return std::exp2(static_cast<double>(i) / run.buckets_per_doubling) / 1e3;
    };
    const auto first = static_cast<std::size_t>(
        std::ranges::find_if(run.histogram, [](double count) { return count > 0; }) -
        run.histogram.begin());
    out.edges.push_back(edge(first));
    for (std::size_t i = first; i < run.histogram.size(); ++i) {
        out.values.push_back(run.histogram[i] / sum * 100);
        out.edges.push_back(edge(i + 1));
    }
    return out;
}

std::string distribution(const std::vector<record>& runs) {
    std::vector<curve> curves;
    double low = 0;
    double high = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const stepped found = shares(runs[i]);
        if (found.values.empty()) continue;
        low = curves.empty() ? found.edges.front() : std::min(low, found.edges.front());
        high = std::max(high, found.edges.back());
        curves.push_back({runs[i].name, steps(found.edges, found.values), i});
    }
    if (curves.empty()) return {};
    const double top = highest(curves);
    const bool filled = curves.size() == 1;
    return draw({"Latencies",
                 "how many of all answers took how long",
                 "µs",
                 "% of answers",
                 axis::logarithmic(low, high, across),
                 axis::linear(top, upwards),
                 std::move(curves),
                 {},
                 filled});
}

}  // namespace

std::string plots_over_time(const std::vector<record>& runs) {
    return throughput(runs) + answers(runs) + open_connections(runs) + failures(runs);
}

std::string plots_of_latency(const std::vector<record>& runs) {
    return quantiles(runs) + distribution(runs);
}

}  // namespace culvert::load::html
