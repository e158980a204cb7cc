// Stands in for libFuzzer where there is none: runs a target once for each file of a folder.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::uint8_t> contents(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> read{std::istreambuf_iterator<char>(in), {}};
    return {read.begin(), read.end()};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: fuzz_replay_NAME FOLDER\n", stderr);
        return 2;
    }
    std::size_t runs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        const auto input = contents(entry.path());
        // Told before it runs: the last one is the one that did not come back.
        std::printf("%s, %zu bytes\n", entry.path().filename().c_str(), input.size());
        std::fflush(stdout);
        LLVMFuzzerTestOneInput(input.data(), input.size());
        ++runs;
    }
    std::printf("%zu inputs\n", runs);
    return runs == 0 ? 1 : 0;
}
