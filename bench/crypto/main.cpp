// crypto_bench ROUNDS [PREFIX...]
//
// Measures culvert's ciphers and the peers: all rows, or those whose names begin with a PREFIX.
// Prints lines of JSON: the first says what was built and is compared, each further one is a round
// of a row. Every row has its first round before any has its second, so that the rounds of each are
// spread over the whole run.

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <iostream>

#include "bench/crypto/peers/peers.hpp"
#include "bench/crypto/rows.hpp"
#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/keccak.hpp"

namespace {

using namespace culvert;

#ifdef __clang__
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
constexpr const char* compiler =
    "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__);
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

boost::json::object description() {
    boost::json::object peers;
    for (const auto& make : {bench::openssl, bench::ipsec_mb, bench::libgcrypt, bench::libsodium}) {
        const bench::library peer = make();
        peers[peer.name] = peer.version;
    }
    return {{"compiler", compiler},
            {"peers", peers},
            {"kernels", boost::json::object{{"aead", crypto::best_aead_kernel().name},
                                            {"keccak", crypto::best_keccak_kernel().name}}}};
}

// A batch of a few milliseconds is long enough to be timed well and short enough to miss most of
// what disturbs it.
void initialise_benchmark(char* program) {
    static std::string interleave = "--benchmark_enable_random_interleaving=true";
    static std::string batch = "--benchmark_min_time=0.003";
    char* arguments[] = {program, interleave.data(), batch.data(), nullptr};
    int count = 3;
    benchmark::Initialize(&count, arguments);
}

std::vector<std::string> chosen(const bench::rows& all, char** from, char** to) {
    std::vector<std::string> names;
    for (const std::string& name : all.names()) {
        const auto begins = [&](const char* prefix) { return name.starts_with(prefix); };
        if (from == to || std::any_of(from, to, begins)) names.push_back(name);
    }
    return names;
}

}  // namespace

int main(int argc, char** argv) try {
    const int rounds = argc < 2 ? 0 : std::atoi(argv[1]);
    if (rounds < 1) {
        std::cerr << "crypto_bench ROUNDS [PREFIX...]\n";
        return 2;
    }
    initialise_benchmark(argv[0]);
    bench::rows all;
    bench::add_probes();
    bench::add_aead(all);
    bench::add_permutations(all);
    bench::add_hashes(all);
    bench::add_key_derivation(all);

    std::cout << description() << std::endl;
    const std::vector<std::string> names = chosen(all, argv + 2, argv + argc);
    for (int round = 0; round < rounds; ++round) {
        for (const std::string& name : names) bench::measure_round(name);
    }
} catch (const std::exception& error) {
    std::cerr << "crypto_bench: " << error.what() << '\n';
    return 1;
}
