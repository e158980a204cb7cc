// Keccak-f[1600] by every kernel: one state, several at once, and absorbing blocks.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/sponge/suites.hpp"
#include "crypto/ascon.hpp"
#include "crypto/bash_f.hpp"
#include "crypto/keccak_small.hpp"
#include "crypto/kernels/keccak.hpp"

namespace culvert::bench {
namespace {

using crypto::keccak_kernel;

void permute(benchmark::State& state, const keccak_kernel& kernel) {
    crypto::keccak_lanes lanes{};
    for (auto _ : state) {
        kernel.permute(lanes);
        benchmark::ClobberMemory();
    }
}

void permute_n(benchmark::State& state, const keccak_kernel& kernel, std::size_t states) {
    alignas(64) static std::uint64_t lanes[25 * 64];
    for (auto _ : state) {
        kernel.permute_n(lanes, states);
        benchmark::ClobberMemory();
    }
}

// 73 blocks of SHAKE256, as 10,000 bytes have.
void absorb(benchmark::State& state, const keccak_kernel& kernel) {
    static constexpr std::size_t rate = 136, blocks = 73;
    const std::vector<std::uint8_t> in(rate * blocks, 1);
    crypto::keccak_lanes lanes{};
    for (auto _ : state) {
        kernel.absorb_blocks(lanes, in.data(), rate, blocks);
        benchmark::ClobberMemory();
    }
}

template <class State, void (*Permute)(State&) noexcept>
void other(benchmark::State& state) {
    State words{};
    for (auto _ : state) {
        Permute(words);
        benchmark::ClobberMemory();
    }
}

void register_kernel(const keccak_kernel& kernel) {
    const std::string who = std::string("/") + kernel.name;
    benchmark::RegisterBenchmark(("permute/1" + who).c_str(),
                                 [&kernel](auto& state) { permute(state, kernel); });
    for (const std::size_t states : std::vector<std::size_t>{2, 4, 8, 64}) {
        benchmark::RegisterBenchmark(
            ("permute/" + std::to_string(states) + who).c_str(),
            [&kernel, states](auto& state) { permute_n(state, kernel, states); });
    }
    benchmark::RegisterBenchmark(("absorb/73" + who).c_str(),
                                 [&kernel](auto& state) { absorb(state, kernel); });
}

}  // namespace

void register_permutations() {
    for (const keccak_kernel& kernel : crypto::keccak_kernels()) {
        if (kernel.supported()) register_kernel(kernel);
    }
    using namespace crypto;
    benchmark::RegisterBenchmark("keccak_f/200/portable",
                                 other<keccak_state<std::uint8_t>, keccak_f<std::uint8_t>>);
    benchmark::RegisterBenchmark("keccak_f/400/portable",
                                 other<keccak_state<std::uint16_t>, keccak_f<std::uint16_t>>);
    benchmark::RegisterBenchmark("keccak_f/800/portable",
                                 other<keccak_state<std::uint32_t>, keccak_f<std::uint32_t>>);
    benchmark::RegisterBenchmark("ascon_p/6/portable", other<ascon_words, ascon_p<6>>);
    benchmark::RegisterBenchmark("ascon_p/8/portable", other<ascon_words, ascon_p<8>>);
    benchmark::RegisterBenchmark("ascon_p/12/portable", other<ascon_words, ascon_p<12>>);
    benchmark::RegisterBenchmark("bash_f/24/portable", other<bash_words, bash_f>);
}

}  // namespace culvert::bench
