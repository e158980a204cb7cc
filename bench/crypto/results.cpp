#include "bench/crypto/results.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdint>
#include <iterator>

namespace culvert::bench {

void collector::ReportRuns(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
        if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
        // Not GetAdjustedRealTime(), which speaks in the unit of the benchmark.
        const double ns = run.real_accumulated_time * 1e9 / static_cast<double>(run.iterations);
        const auto [at, fresh] = times_.try_emplace(run.run_name.function_name, ns);
        if (!fresh && ns < at->second) at->second = ns;
    }
}

double collector::time(const std::string& name) const {
    return times_.at(name);
}

double collector::cycles_per_ns() const {
    return frequency_cycles / times_.at(frequency_name);
}

void register_frequency() {
    benchmark::RegisterBenchmark(frequency_name, [](benchmark::State& state) {
        std::uint64_t value = 3;
        for (auto _ : state) {
            for (int i = 0; i < 1000; ++i) {
                value *= value;
                benchmark::DoNotOptimize(value);
            }
        }
    });
}

std::string as_text(const std::vector<line>& lines, const std::vector<bar>& bars,
                    double cycles_per_ns) {
    std::string out = fmt::format("{:<24}{:<26}{:>8}{:>12}{:>9}{:>9}\n", "operation", "by", "bytes",
                                  "ns", "GB/s", "c/B");
    std::string before;
    for (const line& each : lines) {
        const std::string group = each.operation + std::to_string(each.size);
        if (group != before) out += '\n';
        before = group;
        const auto size = static_cast<double>(each.size);
        fmt::format_to(std::back_inserter(out), "{:<24}{:<26}{:>8}{:>12.1f}{:>9.3f}{:>9.3f}\n",
                       each.operation, each.contender, each.size, each.ns, size / each.ns,
                       each.ns * cycles_per_ns / size);
    }
    fmt::format_to(std::back_inserter(out), "\n{:.2f} GHz\n\n{:<64}{:>8}{:>8}\n", cycles_per_ns,
                   "bar", "value", "at least");
    for (const bar& each : bars) {
        fmt::format_to(std::back_inserter(out), "{:<64}{:>8.3f}{:>8.2f}  {}\n", each.name,
                       each.value, each.at_least, each.met() ? "met" : "NOT MET");
    }
    return out;
}

std::string as_json(const std::vector<line>& lines, const std::vector<bar>& bars,
                    double cycles_per_ns) {
    boost::json::array results;
    for (const line& each : lines) {
        const auto size = static_cast<double>(each.size);
        results.push_back({{"operation", each.operation},
                           {"by", each.contender},
                           {"bytes", each.size},
                           {"ns", each.ns},
                           {"gb_per_s", size / each.ns},
                           {"cycles_per_byte", each.ns * cycles_per_ns / size}});
    }
    boost::json::array judged;
    for (const bar& each : bars) {
        judged.push_back({{"name", each.name},
                          {"value", each.value},
                          {"bar", each.at_least},
                          {"met", each.met()}});
    }
    return boost::json::serialize(boost::json::object{
        {"ghz", cycles_per_ns}, {"results", std::move(results)}, {"bars", std::move(judged)}});
}

}  // namespace culvert::bench
