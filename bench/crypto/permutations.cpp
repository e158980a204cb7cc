// Keccak-f[1600] by every kernel: one state, several at once, and absorbing blocks.
#include <string>
#include <vector>

#include "bench/crypto/rows.hpp"
#include "crypto/ascon.hpp"
#include "crypto/bash_f.hpp"
#include "crypto/keccak_small.hpp"
#include "crypto/kernels/keccak.hpp"

namespace culvert::bench {
namespace {

using crypto::keccak_kernel;

constexpr std::size_t numbers[] = {2, 4, 8, 64};  // of states at once

void permute(benchmark::State& state, const keccak_kernel& kernel) {
    crypto::keccak_lanes lanes{};
    for (auto _ : state) {
        kernel.permute(lanes);
        benchmark::ClobberMemory();
    }
}

void permute_n(benchmark::State& state, const keccak_kernel& kernel, std::size_t states) {
    alignas(64) static std::uint64_t lanes[25 * numbers[3]];
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

void add_kernel(rows& to, const keccak_kernel& kernel) {
    const std::string who = std::string("culvert ") + kernel.name;
    to.add("permute/1", who, [&kernel](auto& state) { permute(state, kernel); });
    for (const std::size_t states : numbers) {
        to.add("permute/" + std::to_string(states), who,
               [&kernel, states](auto& state) { permute_n(state, kernel, states); });
    }
    to.add("absorb/73", who, [&kernel](auto& state) { absorb(state, kernel); });
}

}  // namespace

void add_permutations(rows& to) {
    for (const keccak_kernel& kernel : crypto::keccak_kernels()) {
        if (kernel.supported()) add_kernel(to, kernel);
    }
    using namespace crypto;
    const std::string who = "culvert portable";
    to.add("keccak_f/200", who, other<keccak_state<std::uint8_t>, keccak_f<std::uint8_t>>);
    to.add("keccak_f/400", who, other<keccak_state<std::uint16_t>, keccak_f<std::uint16_t>>);
    to.add("keccak_f/800", who, other<keccak_state<std::uint32_t>, keccak_f<std::uint32_t>>);
    to.add("ascon_p/6", who, other<ascon_words, ascon_p<6>>);
    to.add("ascon_p/8", who, other<ascon_words, ascon_p<8>>);
    to.add("ascon_p/12", who, other<ascon_words, ascon_p<12>>);
    to.add("bash_f/24", who, other<bash_words, bash_f>);
}

}  // namespace culvert::bench
