#include "bench/html/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/html/axis.hpp"

namespace culvert::load::html {
namespace {

constexpr double bytes_per_mib = 1'048'576;
constexpr double bytes_per_gib = 1'073'741'824;
// Two runs of the same thing differ by so much.
constexpr double same_within = 0.02;

using value = std::optional<double>;

double per_second(double amount, const record& run) noexcept {
    return run.seconds > 0 ? amount / run.seconds : 0;
}

bool asks(const record& run) noexcept {
    return run.requests > 0;
}

value latency(const record& run, const char* which) {
    const auto found = run.latency.find(which);
    return asks(run) && found != run.latency.end() ? value(found->second) : value();
}

enum class better : std::uint8_t { neither, more, less };

struct figure {
    const char* name;
    const char* unit;
    html::better better;
    value (*of)(const record&);  // none where a run has no such figure
};

constexpr figure all_figures[] = {
    {"Throughput", "MiB/s", better::more, [](const record& r) { return value(mib_per_second(r)); }},
    {"Sent", "MiB", better::neither,
     [](const record& r) { return value(r.bytes_sent / bytes_per_mib); }},
    {"Received", "MiB", better::neither,
     [](const record& r) { return value(r.bytes_received / bytes_per_mib); }},
    {"Counted time", "s", better::neither, [](const record& r) { return value(r.seconds); }},
    {"Answers", "", better::neither,
     [](const record& r) { return asks(r) ? value(r.requests) : value(); }},
    {"Answers a second", "/s", better::more,
     [](const record& r) { return asks(r) ? value(requests_per_second(r)) : value(); }},
    {"Latency p50", "µs", better::less, [](const record& r) { return latency(r, "p50"); }},
    {"Latency p90", "µs", better::less, [](const record& r) { return latency(r, "p90"); }},
    {"Latency p99", "µs", better::less, [](const record& r) { return latency(r, "p99"); }},
    {"Latency p99.9", "µs", better::less, [](const record& r) { return latency(r, "p99.9"); }},
    {"Latency, the longest", "µs", better::less, [](const record& r) { return latency(r, "max"); }},
    {"CPU of culvert-load", "s", better::neither,
     [](const record& r) { return value(r.cpu_seconds); }},
    {"CPU of culvert-load", "µs an answer", better::less,
     [](const record& r) { return asks(r) ? value(r.cpu_seconds * 1e6 / r.requests) : value(); }},
    {"CPU of culvert-load", "s/GiB", better::less,
     [](const record& r) {
         const double bytes = r.bytes_sent + r.bytes_received;
         return asks(r) || bytes == 0 ? value() : value(r.cpu_seconds * bytes_per_gib / bytes);
     }},
    {"Requests not sent in time", "", better::less,
     [](const record& r) { return r.not_sent > 0 ? value(r.not_sent) : value(); }},
    {"Failures", "", better::less, [](const record& r) { return value(r.failures); }},
};

// How a figure compares to that of the first run; in words too, as not everybody tells the colours.
std::string ratio_text(double now, double first, better which) {
    if (first == 0) return {};
    const double ratio = now / first;
    const bool same = std::abs(ratio - 1) <= same_within;
    if (same || which == better::neither)
        return fmt::format("<small class=\"ratio\">×{}</small>", short_number(ratio));
    const bool good = (ratio > 1) == (which == better::more);
    return fmt::format("<small class=\"ratio {0}\">×{1} {0}</small>", good ? "better" : "worse",
                       short_number(ratio));
}

std::string heads(const std::vector<record>& runs, const char* first) {
    std::string out = fmt::format("<thead><tr><th scope=\"col\">{}</th>", first);
    for (std::size_t i = 0; i < runs.size(); ++i)
        out += fmt::format("<th scope=\"col\"><span class=\"run s{}\">{}</span></th>", i,
                           escaped(runs[i].name));
    return out + "</tr></thead>\n";
}

std::string figure_row(const figure& row, const std::vector<record>& runs) {
    const value first = row.of(runs.front());
    std::string cells;
    bool any = false;
    for (const record& run : runs) {
        const value now = row.of(run);
        any = any || now;
        const std::string ratio =
            &run != &runs.front() && now && first ? ratio_text(*now, *first, row.better) : "";
        cells += fmt::format("<td>{}{}</td>", now ? short_number(*now, 4) : "–", ratio);
    }
    if (!any) return {};
    return fmt::format("<tr><th scope=\"row\">{}{}</th>{}</tr>\n", row.name,
                       *row.unit != '\0' ? fmt::format(" <small>{}</small>", row.unit) : "", cells);
}

std::string setup_row(const char* name, const std::vector<record>& runs,
                      std::string (*of)(const record&), bool shall_be_same) {
    const std::string first = of(runs.front());
    const bool differ = shall_be_same && std::ranges::any_of(runs, [&](const record& run) {
                            return of(run) != first;
                        });
    std::string out = fmt::format("<tr><th scope=\"row\">{}{}</th>", name,
                                  differ ? " <small class=\"worse\">differs</small>" : "");
    for (const record& run : runs) out += fmt::format("<td>{}</td>", of(run));
    return out + "</tr>\n";
}

std::string tile(const char* name, const std::string& number, const char* unit) {
    return fmt::format("<div><dt>{}</dt><dd>{} <small>{}</small></dd></div>\n", name, number, unit);
}

}  // namespace

double mib_per_second(const record& run) noexcept {
    return per_second((run.bytes_sent + run.bytes_received) / bytes_per_mib, run);
}

double requests_per_second(const record& run) noexcept {
    return per_second(run.requests, run);
}

std::string headline(const record& run) {
    std::string out = "<dl class=\"tiles\">\n";
    if (!asks(run)) out += tile("throughput", short_number(mib_per_second(run)), "MiB/s");
    if (asks(run)) {
        out += tile(run.mode == "churn" ? "connections" : "answers",
                    short_number(requests_per_second(run)), "a second");
        for (const char* which : {"p50", "p99"})
            out += tile(which, short_number(latency(run, which).value_or(0)), "µs");
    }
    out += tile("failures", short_number(run.failures), "");
    out +=
        fmt::format("<div><dt>every byte</dt><dd>{}</dd></div>\n",
                    run.integrity == "ok" ? "as sent" : "<span class=\"worse\">not as sent</span>");
    return out + "</dl>\n";
}

std::string figures_table(const std::vector<record>& runs) {
    std::string out = fmt::format("<div class=\"wide{}\"><table>\n{}<tbody>\n",
                                  runs.size() == 1 ? " single" : "", heads(runs, "Figure"));
    for (const figure& row : all_figures) out += figure_row(row, runs);
    out += setup_row(
        "Integrity", runs, [](const record& run) { return escaped(run.integrity); }, false);
    return out + "</tbody></table></div>\n";
}

std::string setup_table(const std::vector<record>& runs) {
    std::string out =
        "<div class=\"wide\"><table class=\"setup\">\n" + heads(runs, "Run") + "<tbody>\n";
    out += setup_row(
        "Command", runs,
        [](const record& run) { return "<code>" + escaped(run.command) + "</code>"; }, false);
    out += setup_row(
        "Mode", runs, [](const record& run) { return escaped(run.mode); }, true);
    out += setup_row(
        "Begun", runs, [](const record& run) { return escaped(run.started); }, false);
    out += setup_row(
        "Machine", runs, [](const record& run) { return escaped(run.machine.text()); }, true);
    out += setup_row(
        "Load average before", runs,
        [](const record& run) { return short_number(run.machine.load); }, false);
    out += setup_row(
        "culvert-load", runs, [](const record& run) { return escaped(run.version); }, true);
    return out + "</tbody></table></div>\n";
}

std::string errors_table(const std::vector<record>& runs) {
    std::string rows;
    for (const record& run : runs)
        for (const auto& [reason, times] : run.errors)
            rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
                                escaped(run.name), short_number(times), escaped(reason));
    if (rows.empty()) return {};
    return "<section>\n<h2>What failed</h2>\n<div class=\"wide\"><table "
           "class=\"setup\">\n<thead><tr><th "
           "scope=\"col\">Run</th><th scope=\"col\">Times</th><th "
           "scope=\"col\">Reason</th></tr></thead>\n"
           "<tbody>\n" +
           rows + "</tbody></table></div>\n</section>\n";
}

}  // namespace culvert::load::html
