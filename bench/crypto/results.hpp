// What was measured, the tables made of it, and the bars it is held against.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace culvert::bench {

// Keeps the fastest repetition of each benchmark: neighbours on the machine only ever add time.
class collector : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override;

    // Nanoseconds a call.
    [[nodiscard]] double time(const std::string& name) const;
    [[nodiscard]] bool has(const std::string& name) const { return times_.contains(name); }
    // By the chain of dependent multiplications that was measured among the rest.
    [[nodiscard]] double cycles_per_ns() const;

  private:
    std::map<std::string, double> times_;
};

struct bar {
    std::string name;
    double value;
    double at_least;
    [[nodiscard]] bool met() const { return value >= at_least; }
};

// One line of a table.
struct line {
    std::string operation;  // "seal", "open", "open in pieces of 100"
    std::string contender;
    std::size_t size;
    double ns;
};

std::string as_text(const std::vector<line>& lines, const std::vector<bar>& bars,
                    double cycles_per_ns);
std::string as_json(const std::vector<line>& lines, const std::vector<bar>& bars,
                    double cycles_per_ns);

// The name of the benchmark that measures the frequency; it takes these cycles.
inline constexpr const char* frequency_name = "frequency";
inline constexpr double frequency_cycles = 3000;  // 1,000 multiplications of three cycles
void register_frequency();

}  // namespace culvert::bench
