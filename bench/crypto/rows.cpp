#include "bench/crypto/rows.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace culvert::bench {
namespace {

const std::string probe_prefix = "probe/";

class collector : public benchmark::BenchmarkReporter {
  public:
    explicit collector(const std::string& row) : row_(row) {}
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) take(run);
    }
    [[nodiscard]] boost::json::object line() const {
        return {{"row", row_}, {"ns", ns_}, {"counters", counters_}, {"probes", probes_}};
    }

  private:
    void take(const Run& run) {
        const std::string& name = run.run_name.function_name;
        if (run.error_occurred) throw std::runtime_error(name + ": " + run.error_message);
        // Not GetAdjustedCPUTime(), which speaks in the unit of the benchmark.
        const double ns = run.cpu_accumulated_time * 1e9 / static_cast<double>(run.iterations);
        if (name.starts_with(probe_prefix)) {
            probes_[name.substr(probe_prefix.size())] = ns;
            return;
        }
        const std::string contender = name.substr(row_.size() + 1);
        ns_[contender] = ns;
        if (run.counters.empty()) return;
        boost::json::object counters;
        for (const auto& [counter, value] : run.counters) counters[counter] = value.value;
        counters_[contender] = std::move(counters);
    }

    const std::string& row_;
    boost::json::object ns_, counters_, probes_;
};

}  // namespace

void rows::add(const std::string& row, const std::string& contender, body measure) {
    if (std::find(names_.begin(), names_.end(), row) == names_.end()) names_.push_back(row);
    benchmark::RegisterBenchmark((row + '/' + contender).c_str(), std::move(measure));
}

void measure_round(const std::string& row) {
    collector round(row);
    benchmark::RunSpecifiedBenchmarks(&round, "^(" + row + '/' + '|' + probe_prefix + ')');
    std::cout << round.line() << std::endl;
}

}  // namespace culvert::bench
