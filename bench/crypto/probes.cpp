#include "bench/crypto/rows.hpp"

namespace culvert::bench {
namespace {

// 1,000 additions of which each waits for the one before: 1,000 cycles.
void frequency(benchmark::State& state) {
    std::uint64_t value = 1;
    for (auto _ : state) {
        for (int i = 0; i < 100; ++i) {
            for (int j = 0; j < 10; ++j) __asm__ volatile("" : "+r"(value += 1));
        }
    }
}

// Eight chains at once use every unit there is, so whoever shares the core with us is seen in them
// and not in a single chain.
void throughput(benchmark::State& state) {
    std::uint64_t v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (auto _ : state) {
        for (int i = 0; i < 100; ++i) {
            for (int j = 0; j < 5; ++j) {
                for (std::uint64_t& value : v) __asm__ volatile("" : "+r"(value += 1));
            }
        }
    }
}

}  // namespace

void add_probes() {
    benchmark::RegisterBenchmark("probe/frequency", frequency);
    benchmark::RegisterBenchmark("probe/throughput", throughput);
}

}  // namespace culvert::bench
