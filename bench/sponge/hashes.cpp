// SHA-3 and SHAKE of messages of 10 to 10,000 bytes, beside OpenSSL and libgcrypt.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "bench/sponge/peers.hpp"
#include "bench/sponge/suites.hpp"
#include "crypto/sha3.hpp"
#include "crypto/shake.hpp"

namespace culvert::bench {
namespace {

using hash_function = void (*)(crypto::bytes_view in, crypto::bytes out);
constexpr std::array<std::size_t, 4> sizes{10, 100, 1000, 10000};

const std::vector<std::uint8_t> message(sizes.back(), 0x5a);

template <class Hash>
void measure(benchmark::State& state, Hash&& hash, std::size_t size, std::size_t out_size) {
    const crypto::bytes_view in = crypto::bytes_view(message).first(size);
    std::array<std::uint8_t, 64> out;
    for (auto _ : state) {
        hash(in, crypto::bytes(out).first(out_size));
        benchmark::ClobberMemory();
    }
}

void register_hash(const char* name, std::size_t out_size, hash_function ours) {
    for (const std::size_t size : sizes) {
        const std::string row = std::string(name) + '/' + std::to_string(size);
        benchmark::RegisterBenchmark((row + "/culvert").c_str(), [=](benchmark::State& state) {
            measure(state, ours, size, out_size);
        });
        benchmark::RegisterBenchmark((row + "/openssl").c_str(), [=](benchmark::State& state) {
            openssl_hash peer(name);
            measure(
                state, [&](auto in, auto out) { peer.hash(in, out); }, size, out_size);
        });
        benchmark::RegisterBenchmark((row + "/libgcrypt").c_str(), [=](benchmark::State& state) {
            gcrypt_hash peer(name);
            measure(
                state, [&](auto in, auto out) { peer.hash(in, out); }, size, out_size);
        });
    }
}

template <std::size_t Size>
void sha3(crypto::bytes_view in, crypto::bytes out) {
    crypto::sha3<Size>::hash(in, out.first<Size>());
}

// SHAKE256 of the longest message by every kernel.
void register_kernels() {
    for (const crypto::keccak_kernel& kernel : crypto::keccak_kernels()) {
        if (!kernel.supported()) continue;
        const std::string name = "SHAKE256_by/" + std::to_string(sizes.back()) + '/' + kernel.name;
        benchmark::RegisterBenchmark(name.c_str(), [&kernel](benchmark::State& state) {
            const auto hash = [&kernel](crypto::bytes_view in, crypto::bytes out) {
                crypto::shake256 xof(kernel);
                xof.absorb(in);
                xof.squeeze(out);
            };
            measure(state, hash, sizes.back(), 32);
        });
    }
}

}  // namespace

void register_hashes() {
    register_hash("SHA3-224", 28, sha3<28>);
    register_hash("SHA3-256", 32, sha3<32>);
    register_hash("SHA3-384", 48, sha3<48>);
    register_hash("SHA3-512", 64, sha3<64>);
    register_hash("SHAKE128", 32, crypto::shake128::hash);
    register_hash("SHAKE256", 32, crypto::shake256::hash);
    register_kernels();
}

}  // namespace culvert::bench
