// SHA-3 and SHAKE of messages of 10 to 10,000 bytes: every kernel of culvert, and the peers.
#include <array>
#include <utility>

#include "bench/crypto/peers/peers.hpp"
#include "bench/crypto/rows.hpp"
#include "crypto/sha3.hpp"
#include "crypto/shake.hpp"

namespace culvert::bench {
namespace {

using crypto::bytes;
using crypto::bytes_view;
using crypto::keccak_kernel;

constexpr std::size_t sizes[] = {10, 100, 1000, 10000};
const std::vector<std::uint8_t> message(10000, 0x5a);

template <class Function>
void measure(benchmark::State& state, Function&& function, std::size_t size, std::size_t out_size) {
    const bytes_view in = bytes_view(message).first(size);
    std::array<std::uint8_t, 64> out;
    for (auto _ : state) {
        function(in, bytes(out).first(out_size));
        benchmark::ClobberMemory();
    }
}

template <std::size_t Size>
void sha3(const keccak_kernel& kernel, bytes_view in, bytes out) {
    crypto::sha3<Size> state(kernel);
    state.absorb(in);
    std::move(state).finish(out.first<Size>());
}

// As shake::hash does it, which takes no kernel: without the copy that reset() would begin with.
template <std::size_t Rate>
void shake(const keccak_kernel& kernel, bytes_view in, bytes out) {
    crypto::keccak_sponge sponge(Rate, kernel);
    sponge.absorb(in);
    sponge.pad(0x1f);
    sponge.squeeze(out);
}

struct algorithm {
    const char* name;
    std::size_t out_size;
    void (*ours)(const keccak_kernel& kernel, bytes_view in, bytes out);
};
constexpr algorithm algorithms[] = {
    {"SHA3-224", 28, sha3<28>},
    {"SHA3-256", 32, sha3<32>},
    {"SHA3-384", 48, sha3<48>},
    {"SHA3-512", 64, sha3<64>},
    {"SHAKE128", 32, shake<crypto::xof::rate_128>},
    {"SHAKE256", 32, shake<crypto::xof::rate_256>},
};

void add_row(rows& to, const std::vector<library>& peers, const algorithm& each, std::size_t size) {
    const std::string row = std::string(each.name) + '/' + std::to_string(size);
    for (const keccak_kernel& kernel : crypto::keccak_kernels()) {
        if (!kernel.supported()) continue;
        to.add(row, std::string("culvert ") + kernel.name, [=, &each, &kernel](auto& state) {
            const auto ours = [&](bytes_view in, bytes out) { each.ours(kernel, in, out); };
            measure(state, ours, size, each.out_size);
        });
    }
    for (const library& peer : peers) {
        to.add(row, peer.name, [=, &each, &peer](auto& state) {
            measure(state, *peer.make_hash(each.name), size, each.out_size);
        });
    }
}

}  // namespace

void add_hashes(rows& to) {
    static const std::vector<library> peers = [] {
        std::vector<library> made;
        made.push_back(openssl());
        made.push_back(libgcrypt());
        return made;
    }();
    for (const algorithm& each : algorithms) {
        for (const std::size_t size : sizes) add_row(to, peers, each, size);
    }
}

}  // namespace culvert::bench
