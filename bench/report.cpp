#include "bench/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <cmath>
#include <iterator>

#include "proxy/observe/printable.hpp"

namespace culvert::load {
namespace {

struct quantile_name {
    const char* name;
    double share;
};
constexpr std::array quantiles{quantile_name{"p50", 0.5}, quantile_name{"p90", 0.9},
                               quantile_name{"p99", 0.99}, quantile_name{"p99.9", 0.999}};

constexpr double bytes_per_gib = 1'073'741'824;

std::string describe(const plan& what) {
    std::string text =
        fmt::format("{} to {}{}, {} connection{}, {} thread{}", text_of(what.mode), what.to.text(),
                    what.to.raw ? " (raw)" : "", what.connections, what.connections == 1 ? "" : "s",
                    what.threads, what.threads == 1 ? "" : "s");
    const std::string size = size_text(what.size);
    switch (what.mode) {
        case mode::bulk:
            return text + fmt::format(", {}, writes of {}", text_of(what.direction), size);
        case mode::latency:
            return text + fmt::format(", {} and {} back, {}", size, size_text(what.reply_size),
                                      what.rate == 0 ? "closed loop"
                                                     : fmt::format("{} requests/s", what.rate));
        case mode::churn:
        case mode::idle:
            return text + fmt::format(", {} and back", size);
    }
    return text;
}

double per_second(double amount, const outcome& found) noexcept {
    const double time = in_seconds(found.time);
    return time > 0 ? amount / time : 0;
}

std::string bytes_row(const char* name, std::uint64_t bytes, const outcome& found) {
    return fmt::format("  {:<11}{:>12}  {:10.1f} MiB/s\n", name, size_text(bytes),
                       per_second(in_mebibytes(bytes), found));
}

std::string latency_row(const histogram& times) {
    std::string row = "  latency    ";
    for (const auto& q : quantiles)
        row += fmt::format("{} {:.1f}  ", q.name, in_microseconds(times.quantile(q.share)));
    return row + fmt::format("max {:.1f}  µs\n", in_microseconds(times.max()));
}

std::string cpu_row(const outcome& found) {
    const auto& counts = found.counts;
    std::string row = fmt::format("  {:<11}{:>10.3f} s", "cpu", found.cpu_seconds);
    if (counts.requests > 0)
        return row + fmt::format("  {:10.2f} µs/request\n",
                                 found.cpu_seconds * 1e6 / static_cast<double>(counts.requests));
    const auto moved = static_cast<double>(counts.sent + counts.received);
    if (moved > 0)
        row += fmt::format("  {:10.3f} s/GiB", found.cpu_seconds * bytes_per_gib / moved);
    return row + "\n";
}

boost::json::object latencies_of(const histogram& times) {
    boost::json::object out;
    for (const auto& q : quantiles) out[q.name] = in_microseconds(times.quantile(q.share));
    out["max"] = in_microseconds(times.max());
    return out;
}

// The curve of quantiles: shares that come closer to 1 by the same factor each, 16 a decade, for as
// long as there are times beyond.
boost::json::array quantile_curve(const histogram& times) {
    constexpr double per_decade = 16;
    const auto count = static_cast<double>(times.count());
    boost::json::array out;
    for (int i = 0; std::pow(10, -i / per_decade) * count >= 1; ++i) {
        const double share = 1 - std::pow(10, -i / per_decade);
        out.push_back({share, in_microseconds(times.quantile(share))});
    }
    return out;
}

boost::json::object histogram_of(const histogram& times) {
    boost::json::array counts;
    for (const std::uint64_t count : times.coarse()) counts.push_back(count);
    return {{"buckets_per_doubling", histogram::coarse_per_doubling}, {"counts", counts}};
}

// A column for each thing counted.
boost::json::object columns_of(const timeline& over_time) {
    boost::json::array at, sent, received, requests, failures, open;
    for (const auto& [when, so_far] : over_time.moments()) {
        at.push_back(std::round(in_seconds(when) * 1e6) / 1e6);
        sent.push_back(so_far.sent);
        received.push_back(so_far.received);
        requests.push_back(so_far.requests);
        failures.push_back(so_far.failures);
        open.push_back(so_far.open);
    }
    return {{"seconds", at},        {"bytes_sent", sent},   {"bytes_received", received},
            {"requests", requests}, {"failures", failures}, {"open", open}};
}

boost::json::object machine_of(const machine& host) {
    return {{"processor", host.processor},
            {"processors", host.processors},
            {"memory_bytes", host.memory},
            {"kernel", host.kernel},
            {"load_before", host.load}};
}

boost::json::object parameters_of(const plan& what) {
    boost::json::object out{{"to", what.to.text()},
                            {"raw", what.to.raw},
                            {"connections", what.connections},
                            {"threads", what.threads},
                            {"warm_up_ms", what.warm_up.count()},
                            {"duration_ms", what.duration.count()},
                            {"size", what.size}};
    if (what.mode == mode::bulk) {
        out["direction"] = text_of(what.direction);
        if (what.bytes != unbounded) out["bytes_each"] = what.bytes;
    }
    if (what.mode == mode::latency) {
        out["reply_size"] = what.reply_size;
        out["rate"] = what.rate;
    }
    return out;
}

}  // namespace

std::string integrity_text(const outcome& found) {
    const std::string& broken = found.failures.broken();
    if (!broken.empty()) return "failed: " + broken;
    const bool nothing = found.counts.sent == 0 && found.counts.received == 0;
    return nothing ? "failed: nothing came through" : "ok";
}

bool succeeded(const outcome& found) noexcept {
    return found.failures.count() == 0;
}

std::string table(const plan& what, const outcome& found) {
    const auto& counts = found.counts;
    std::string text = describe(what) + "\n";
    text += fmt::format("  {:<11}{:>10.3f} s\n", "time", in_seconds(found.time));
    text += bytes_row("sent", counts.sent, found);
    text += bytes_row("received", counts.received, found);
    if (counts.requests > 0) {
        text += fmt::format("  {:<11}{:>12}  {:10.1f} /s\n",
                            what.mode == mode::churn ? "connections" : "requests", counts.requests,
                            per_second(static_cast<double>(counts.requests), found));
        text += latency_row(found.latencies);
    }
    if (found.missed > 0)
        text += fmt::format("  {:<11}{:>12}  the rate is more than the target can keep\n",
                            "not sent", found.missed);
    text += cpu_row(found);
    for (const auto& [reason, times] : found.failures.reasons())
        text += fmt::format("  {:<11}{:>12}  {}\n", "failed", times, reason);
    return text + fmt::format("  {:<11}{}\n", "integrity", integrity_text(found));
}

boost::json::object json(const plan& what, const outcome& found) {
    const auto& counts = found.counts;
    boost::json::object errors;
    for (const auto& [reason, times] : found.failures.reasons()) errors[reason] = times;
    const std::uint64_t bytes = counts.sent + counts.received;
    return {
        {"mode", text_of(what.mode)},
        {"parameters", parameters_of(what)},
        {"seconds", in_seconds(found.time)},
        {"bytes", bytes},
        {"bytes_sent", counts.sent},
        {"bytes_received", counts.received},
        {"mib_per_second", per_second(in_mebibytes(bytes), found)},
        {"requests", counts.requests},
        {"requests_per_second", per_second(static_cast<double>(counts.requests), found)},
        {"requests_not_sent", found.missed},
        {"latency_us", latencies_of(found.latencies)},
        {"cpu_seconds", found.cpu_seconds},
        {"failures", found.failures.count()},
        {"errors", errors},
        {"integrity", integrity_text(found)},
        {"version", CULVERT_VERSION},
        {"command", observe::printable(what.command)},
        {"started", fmt::format("{:%FT%TZ}",
                                fmt::gmtime(std::chrono::system_clock::to_time_t(found.started)))},
        {"machine", machine_of(found.machine)},
        {"counted_from_seconds", in_seconds(found.counted_from)},
        {"timeline", columns_of(found.timeline)},
        {"latency_quantiles_us", quantile_curve(found.latencies)},
        {"latency_histogram", histogram_of(found.latencies)}};
}

}  // namespace culvert::load
