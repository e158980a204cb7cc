// cSHAKE and KMAC as key derivation uses them, and what all derivations of a handshake cost.
#include <array>
#include <string_view>
#include <utility>

#include "bench/crypto/allocations.hpp"
#include "bench/crypto/peers/peers.hpp"
#include "bench/crypto/rows.hpp"
#include "crypto/cshake.hpp"
#include "crypto/kmac.hpp"

namespace culvert::bench {
namespace {

using crypto::bytes_view;
using crypto::kmac256;

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
    crypto::cshake256 xof(crypto::as_bytes("N"), crypto::as_bytes("S"));
    std::array<std::uint8_t, 64> out;
    measure(state, [&] {
        xof.reset();
        xof.absorb(crypto::as_bytes("testdata"));
        xof.squeeze(out);
    });
}

void one_permutation(benchmark::State& state) {
    crypto::keccak_lanes lanes{};
    measure(state, [&] { crypto::best_keccak_kernel().permute(lanes); });
}

void cshake_anew(benchmark::State& state) {
    std::array<std::uint8_t, 64> out;
    measure(state, [&] {
        crypto::cshake256::hash(crypto::as_bytes("N"), crypto::as_bytes("S"),
                                crypto::as_bytes("testdata"), out);
    });
}

const std::array<std::uint8_t, 32> key{1, 2, 3};
const std::array<std::uint8_t, 64> input{4, 5, 6};

void kmac_kept(benchmark::State& state) {
    const kmac256::customised custom(crypto::as_bytes("culvert/1 box"));
    std::array<std::uint8_t, 32> out;
    measure(state, [&] {
        kmac256 mac(custom, key);
        mac.absorb(input);
        std::move(mac).finish(out);
    });
}

void kmac_two(benchmark::State& state) {
    const kmac256::customised c2s(crypto::as_bytes("culvert/1 c2s")),
        s2c(crypto::as_bytes("culvert/1 s2c"));
    std::array<std::uint8_t, 32> a, b;
    measure(state, [&] { kmac256::mac_two(c2s, {key, input}, a, s2c, {key, input}, b); });
}

void kmac_openssl(benchmark::State& state) {
    const auto peer = openssl_kmac256(crypto::as_bytes("culvert/1 box"), key, 32);
    std::array<std::uint8_t, 32> out;
    measure(state, [&] { (*peer)(input, out); });
}

// What is done once for all handshakes, and what at once.
enum class kept { nothing, states, states_two_at_once };

// A label with the state that follows it.
class customisation {
  public:
    customisation(const char* label, const crypto::keccak_kernel& kernel)
        : kernel_(kernel), label_(label), state_(crypto::as_bytes(label), kernel) {}
    [[nodiscard]] const kmac256::customised& state() const { return state_; }
    [[nodiscard]] kmac256::customised anew() const {
        return kmac256::customised(crypto::as_bytes(label_), kernel_);
    }

  private:
    const crypto::keccak_kernel& kernel_;
    const char* label_;
    kmac256::customised state_;
};

// The derivations of one end of a handshake (PROTOCOL.md sections 2 to 4), without its ciphers and
// key agreements and with empty pads: h = H(h ‖ data) and KDF(ck, input, label).
class handshake {
  public:
    handshake(const crypto::keccak_kernel& kernel, kept what)
        : kept_(what),
          kernel_(kernel),
          hash_(make_hash()),
          box_("culvert/1 box", kernel),
          mix_("culvert/1 mix", kernel),
          c2s_("culvert/1 c2s", kernel),
          s2c_("culvert/1 s2c", kernel),
          epoch_("culvert/1 epoch", kernel) {}

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
    [[nodiscard]] crypto::cshake256 make_hash() const {
        return {{}, crypto::as_bytes("culvert/1 hash"), kernel_};
    }
    void absorb(std::size_t size) {
        if (kept_ == kept::nothing) hash_ = make_hash();
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
        if (kept_ == kept::states_two_at_once) {
            kmac256::mac_two(c2s_.state(), {ck_, h_}, secret_c2s, s2c_.state(), {ck_, h_},
                             secret_s2c);
            kmac256::mac_two(epoch_.state(), {secret_c2s, {}}, c2s, epoch_.state(),
                             {secret_s2c, {}}, s2c);
        } else {
            derive(c2s_, ck_, h_, secret_c2s);
            derive(s2c_, ck_, h_, secret_s2c);
            derive(epoch_, secret_c2s, {}, c2s);
            derive(epoch_, secret_s2c, {}, s2c);
        }
        benchmark::DoNotOptimize(c2s);
        benchmark::DoNotOptimize(s2c);
    }
    void derive(const customisation& custom, bytes_view from, bytes_view in, crypto::bytes out) {
        kmac256 mac(kept_ == kept::nothing ? custom.anew() : custom.state(), from);
        mac.absorb(in);
        std::move(mac).finish(out);
    }

    kept kept_;
    const crypto::keccak_kernel& kernel_;
    crypto::cshake256 hash_;
    customisation box_, mix_, c2s_, s2c_, epoch_;
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

double passes_of(bool static_keys, kept what) {
    handshake counted(counting, what);
    passes = 0;
    counted.run(static_keys);
    return static_cast<double>(passes);
}

void add_handshake(rows& to, const std::string& who, kept what,
                   const crypto::keccak_kernel& kernel) {
    for (const bool static_keys : {false, true}) {
        const auto measured = [=, &kernel](benchmark::State& state) {
            handshake end(kernel, what);
            measure(state, [&] { end.run(static_keys); });
            state.counters["permutations"] = passes_of(static_keys, what);
        };
        to.add(static_keys ? "handshake/static" : "handshake/psk", who, measured);
    }
}

}  // namespace

void add_key_derivation(rows& to) {
    to.add("cSHAKE256/N,S,testdata", "state kept", cshake_kept);
    to.add("cSHAKE256/N,S,testdata", "nothing kept", cshake_anew);
    to.add("cSHAKE256/N,S,testdata", "one permutation", one_permutation);
    to.add("KMAC256/32,64", "culvert, state kept", kmac_kept);
    to.add("KMAC256/32,64", "culvert, two at once", kmac_two);
    to.add("KMAC256/32,64", "openssl", kmac_openssl);
    const auto& best = crypto::best_keccak_kernel();
    const auto& portable = crypto::keccak_kernels().back();
    add_handshake(to, "nothing kept", kept::nothing, best);
    add_handshake(to, "states kept", kept::states, best);
    add_handshake(to, "states kept, two at once", kept::states_two_at_once, best);
    add_handshake(to, "the same, portable kernel", kept::states_two_at_once, portable);
}

}  // namespace culvert::bench
