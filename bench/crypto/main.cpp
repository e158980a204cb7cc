// crypto_bench [--json=FILE] [Google Benchmark's options]
//
// Measures culvert's ciphers and the peers in turns, prints tables and the bars, and writes the
// same as JSON. Returns 1 when a bar is not met.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "bench/crypto/aead_bench.hpp"

namespace {

// Many short repetitions, in random order, so that all contenders meet the same neighbours.
std::vector<char*> with_defaults(int argc, char** argv) {
    static std::string defaults[] = {"--benchmark_enable_random_interleaving=true",
                                     "--benchmark_repetitions=15", "--benchmark_min_time=0.004"};
    std::vector<char*> arguments{argv[0]};
    for (std::string& each : defaults) arguments.push_back(each.data());
    arguments.insert(arguments.end(), argv + 1, argv + argc);
    return arguments;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::string_view option = "--json=";
    std::string json;
    const auto is_json = [&](const char* argument) {
        const std::string_view text = argument;
        if (!text.starts_with(option)) return false;
        json = text.substr(option.size());
        return true;
    };
    argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, is_json) - argv);

    std::vector<char*> arguments = with_defaults(argc, argv);
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

    culvert::bench::aead_bench aead;
    culvert::bench::register_frequency();
    aead.register_all();
    culvert::bench::collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector);

    const auto lines = aead.lines(collector);
    const auto bars = aead.bars(collector);
    const double cycles = collector.cycles_per_ns();
    fmt::print("{}", culvert::bench::as_text(lines, bars, cycles));
    if (!json.empty()) std::ofstream(json) << culvert::bench::as_json(lines, bars, cycles) << '\n';
    const auto met = [](const culvert::bench::bar& bar) { return bar.met(); };
    return std::all_of(bars.begin(), bars.end(), met) ? 0 : 1;
}
