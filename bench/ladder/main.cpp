// Measures each rung, in rounds: ladder ROUNDS MILLISECONDS. A line a measurement: rung, round,
// CPU seconds a GiB, MiB of plaintext a second of wall time.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/ladder/rungs.hpp"

namespace {

constexpr double mib = 1'048'576;

void measure(const culvert::ladder::rung& what, int round, std::chrono::milliseconds time) {
    const auto found = what.run(time);
    const auto size = static_cast<double>(found.bytes);
    const double seconds = static_cast<double>(time.count()) / 1e3;
    std::printf("%s %d %.4f %.0f\n", what.name, round, found.cpu_seconds / (size / mib / 1024),
                size / mib / seconds);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: ladder ROUNDS MILLISECONDS\n", stderr);
        return 2;
    }
    const int rounds = std::atoi(argv[1]);
    const std::chrono::milliseconds time(std::atoi(argv[2]));
    try {
        for (int round = 1; round <= rounds; ++round)
            for (const auto& rung : culvert::ladder::rungs) measure(rung, round, time);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ladder: %s\n", error.what());
        return 1;
    }
}
