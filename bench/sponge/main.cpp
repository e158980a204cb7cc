#include <benchmark/benchmark.h>

#include "bench/sponge/suites.hpp"

namespace {

// 1000 additions of which each waits for the one before: what a cycle is, in this run.
void thousand_cycles(benchmark::State& state) {
    unsigned long value = 1;
    for (auto _ : state) {
        for (int i = 0; i < 100; ++i) {
            for (int j = 0; j < 10; ++j) __asm__ volatile("" : "+r"(value += 1));
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::RegisterBenchmark("thousand_cycles", thousand_cycles);
    culvert::bench::register_permutations();
    culvert::bench::register_hashes();
    culvert::bench::register_key_derivation();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
