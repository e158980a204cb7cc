// What is measured. A row is one question, "seal/64"; its contenders answer it. They are measured
// together, in rounds: a short batch of each, in random order, beside the probes.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace culvert::bench {

class rows {
  public:
    using body = std::function<void(benchmark::State&)>;

    // `row` is "group/number" or "group/what", without anything that means something to a regular
    // expression.
    void add(const std::string& row, const std::string& contender, body measure);
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  private:
    std::vector<std::string> names_;
};

// What a cycle is and whether the core is disturbed: in each round, whatever the row.
void add_probes();
// Measures one round, and prints it as one line of JSON:
//     {"row": …, "ns": {contender: CPU time of a call}, "counters": {contender: {counter: value}},
//      "probes": {probe: ns}}
// Throws when a contender was wrong.
void measure_round(const std::string& row);

void add_aead(rows& to);
void add_permutations(rows& to);
void add_hashes(rows& to);
void add_key_derivation(rows& to);

}  // namespace culvert::bench
