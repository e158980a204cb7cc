// cSHAKE and KMAC as key derivation uses them, and what all derivations of a handshake cost.
#include <benchmark/benchmark.h>

#include <array>
#include <string_view>

#include "bench/sponge/allocations.hpp"
#include "bench/sponge/peers.hpp"
#include "bench/sponge/suites.hpp"
#include "crypto/cshake.hpp"
#include "crypto/kmac.hpp"

namespace culvert::bench {
namespace {

using crypto::bytes_view;
using crypto::kmac256;

bytes_view text(std::string_view characters) {
    return {reinterpret_cast<const std::uint8_t*>(characters.data()), characters.size()};
}

// Runs `body` and counts how often it asks for memory.
template <class Body>
void measure(benchmark::State& state, Body&& body) {
    const std::uint64_t before = allocations();
    for (auto _ : state) {
        body();
        benchmark::ClobberMemory();
    }
    const auto made = static_cast<double>(allocations() - before);
    state.counters["allocations"] = made / static_cast<double>(state.iterations());
}

void cshake_kept(benchmark::State& state) {
    crypto::cshake256 xof(text("N"), text("S"));
    std::array<std::uint8_t, 64> out;
    measure(state, [&] {
        xof.reset();
        xof.absorb(text("testdata"));
        xof.squeeze(out);
    });
}

void cshake_anew(benchmark::State& state) {
    std::array<std::uint8_t, 64> out;
    measure(state, [&] { crypto::cshake256::hash(text("N"), text("S"), text("testdata"), out); });
}

const std::array<std::uint8_t, 32> key{1, 2, 3};
const std::array<std::uint8_t, 64> input{4, 5, 6};

void kmac_kept(benchmark::State& state) {
    const kmac256::customised custom(text("culvert/1 box"));
    std::array<std::uint8_t, 32> out;
    measure(state, [&] {
        kmac256 mac(custom, key);
        mac.absorb(input);
        std::move(mac).finish(out);
    });
}

void kmac_two(benchmark::State& state) {
    const kmac256::customised c2s(text("culvert/1 c2s")), s2c(text("culvert/1 s2c"));
    std::array<std::uint8_t, 32> a, b;
    measure(state, [&] { kmac256::mac_two(c2s, {key, input}, a, s2c, {key, input}, b); });
}

void kmac_openssl(benchmark::State& state) {
    openssl_kmac256 peer(text("culvert/1 box"), 32);
    std::array<std::uint8_t, 32> out;
    measure(state, [&] { peer.mac(key, input, out); });
}

// The derivations of one end of a handshake (PROTOCOL.md sections 2 to 4), without its ciphers and
// key agreements and with empty pads: h = H(h ‖ data) and KDF(ck, input, label).
class handshake {
  public:
    handshake(const crypto::keccak_kernel& kernel, bool at_once)
        : at_once_(at_once),
          hash_({}, text("culvert/1 hash"), kernel),
          box_(text("culvert/1 box"), kernel),
          mix_(text("culvert/1 mix"), kernel),
          c2s_(text("culvert/1 c2s"), kernel),
          s2c_(text("culvert/1 s2c"), kernel),
          epoch_(text("culvert/1 epoch"), kernel) {}

    void run(bool static_keys) {
        absorb(32);  // salt
        box(64);     // A
        if (static_keys) {
            mix();
            box(48);  // B
            mix();
            box(16);  // C
        }
        absorb(0);  // pad
        absorb(32);
        box(48);  // D
        mix();
        if (static_keys) mix();
        box(32);  // F
        absorb(0);
        split();
    }

  private:
    void absorb(std::size_t size) {
        hash_.reset();
        hash_.absorb(h_);
        hash_.absorb(bytes_view(data_).first(size));
        hash_.squeeze(h_);
    }
    void box(std::size_t size) {
        derive(box_, ck_, h_, data_);
        absorb(size);
    }
    void mix() { derive(mix_, ck_, ck_, ck_); }
    void split() {
        std::array<std::uint8_t, 112> c2s, s2c;
        const crypto::bytes secret_c2s = crypto::bytes(c2s).first(32);
        const crypto::bytes secret_s2c = crypto::bytes(s2c).first(32);
        if (at_once_) {
            kmac256::mac_two(c2s_, {ck_, h_}, secret_c2s, s2c_, {ck_, h_}, secret_s2c);
            kmac256::mac_two(epoch_, {secret_c2s, {}}, c2s, epoch_, {secret_s2c, {}}, s2c);
        } else {
            derive(c2s_, ck_, h_, secret_c2s);
            derive(s2c_, ck_, h_, secret_s2c);
            derive(epoch_, secret_c2s, {}, c2s);
            derive(epoch_, secret_s2c, {}, s2c);
        }
        benchmark::DoNotOptimize(c2s);
        benchmark::DoNotOptimize(s2c);
    }
    static void derive(const kmac256::customised& custom, bytes_view from, bytes_view in,
                       crypto::bytes out) {
        kmac256 mac(custom, from);
        mac.absorb(in);
        std::move(mac).finish(out);
    }

    bool at_once_;
    crypto::cshake256 hash_;
    kmac256::customised box_, mix_, c2s_, s2c_, epoch_;
    std::array<std::uint8_t, 64> h_{};
    std::array<std::uint8_t, 32> ck_{};
    std::array<std::uint8_t, 64> data_{};
};

// A kernel that counts its passes and otherwise is the best one.
std::uint64_t passes = 0;
const crypto::keccak_kernel counting{"counting", []() noexcept { return true; },
                                     [](crypto::keccak_lanes& lanes) noexcept {
                                         ++passes;
                                         crypto::best_keccak_kernel().permute(lanes);
                                     },
                                     [](crypto::keccak_lanes& lanes, const std::uint8_t* in,
                                        std::size_t rate, std::size_t blocks) noexcept {
                                         passes += blocks;
                                         crypto::best_keccak_kernel().absorb_blocks(lanes, in, rate,
                                                                                    blocks);
                                     },
                                     [](std::uint64_t* lanes, std::size_t states) noexcept {
                                         ++passes;
                                         crypto::best_keccak_kernel().permute_n(lanes, states);
                                     }};

double passes_of(bool static_keys, bool at_once) {
    handshake counted(counting, at_once);
    passes = 0;
    counted.run(static_keys);
    return static_cast<double>(passes);
}

void register_handshake(const char* name, bool static_keys, bool at_once,
                        const crypto::keccak_kernel& kernel) {
    benchmark::RegisterBenchmark(name, [=, &kernel](benchmark::State& state) {
        handshake kept(kernel, at_once);
        measure(state, [&] { kept.run(static_keys); });
        state.counters["permutations"] = passes_of(static_keys, at_once);
    });
}

}  // namespace

void register_key_derivation() {
    benchmark::RegisterBenchmark("cSHAKE256/N,S,testdata/kept", cshake_kept);
    benchmark::RegisterBenchmark("cSHAKE256/N,S,testdata/anew", cshake_anew);
    benchmark::RegisterBenchmark("KMAC256/32+64/culvert", kmac_kept);
    benchmark::RegisterBenchmark("KMAC256/32+64/openssl", kmac_openssl);
    benchmark::RegisterBenchmark("KMAC256_two/32+64/culvert", kmac_two);
    const auto& best = crypto::best_keccak_kernel();
    const auto& portable = crypto::keccak_kernels().back();
    register_handshake("handshake/psk/culvert", false, true, best);
    register_handshake("handshake/psk/one_by_one", false, false, best);
    register_handshake("handshake/psk/portable_one_by_one", false, false, portable);
    register_handshake("handshake/static/culvert", true, true, best);
    register_handshake("handshake/static/one_by_one", true, false, best);
    register_handshake("handshake/static/portable_one_by_one", true, false, portable);
}

}  // namespace culvert::bench
