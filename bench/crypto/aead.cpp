// ChaCha20-Poly1305: every kernel of culvert and every peer, whole messages and pieces.
#include <algorithm>
#include <utility>

#include "bench/crypto/peers/peers.hpp"
#include "bench/crypto/rows.hpp"
#include "crypto/chacha20poly1305.hpp"
#include "crypto/kernels/aead.hpp"

namespace culvert::bench {
namespace {

using crypto::aead_kernel;
using crypto::bytes;
using crypto::bytes_view;
namespace chacha20poly1305 = crypto::chacha20poly1305;

constexpr std::size_t sizes[] = {64, 100, 256, 1024, 1400, 4096, 16384, 65536};
constexpr std::size_t piece_sizes[] = {1, 16, 100, 1000, 1400};
constexpr std::size_t whole = 16384;  // what is opened in pieces

class culvert_kernel : public bench::aead {
  public:
    explicit culvert_kernel(const aead_kernel& kernel) : kernel_(kernel) {}
    [[nodiscard]] std::string name() const override {
        return std::string("culvert ") + kernel_.name;
    }
    void seal(work& w, std::size_t size) override {
        require(chacha20poly1305::seal(w.key, w.nonce, w.ad, bytes_view(w.plaintext).first(size),
                                       bytes(w.out).first(size), w.tag, kernel_),
                "culvert refuses to seal");
    }
    bool open(work& w, std::size_t size) override {
        return chacha20poly1305::open(w.key, w.nonce, w.ad, bytes_view(w.ciphertext).first(size),
                                      w.tag, bytes(w.out).first(size), kernel_);
    }
    [[nodiscard]] bool has_pieces() const override { return true; }
    bool open_pieces(work& w, std::size_t size, std::size_t piece) override {
        chacha20poly1305::decryptor message(w.key, w.nonce, kernel_);
        bool ok = message.add_ad(w.ad) == crypto::status::ok;
        for (std::size_t at = 0; at < size; at += piece) {
            const std::size_t now = std::min(piece, size - at);
            ok &= message.update(bytes_view(w.ciphertext).subspan(at, now),
                                 bytes(w.out).subspan(at, now)) == crypto::status::ok;
        }
        return std::move(message).finish(w.tag) && ok;
    }

  protected:
    const aead_kernel& kernel_;
};

// Text and tag as one stream, the last 16 bytes held back.
class culvert_stream : public culvert_kernel {
  public:
    using culvert_kernel::culvert_kernel;
    [[nodiscard]] std::string name() const override { return culvert_kernel::name() + " stream"; }
    bool open_pieces(work& w, std::size_t size, std::size_t piece) override {
        chacha20poly1305::stream_opener message(w.key, w.nonce, kernel_);
        bool ok = message.add_ad(w.ad) == crypto::status::ok;
        std::size_t written = 0;
        for (std::size_t at = 0; at < size; at += piece) {
            const std::size_t now = std::min(piece, size - at);
            const auto made = message.update(bytes_view(w.ciphertext).subspan(at, now),
                                             bytes(w.out).subspan(written));
            ok &= made.result == crypto::status::ok;
            written += made.written;
        }
        ok &= message.update(w.tag, bytes(w.out).subspan(written)).result == crypto::status::ok;
        return std::move(message).finish() && ok;
    }
};

// What all contenders share; lives as long as the program.
struct field {
    work w;
    aeads whole;
    aeads streams;  // culvert again, by its other interface for pieces
};

// Deterministic content.
work make_work() {
    work w{};
    w.plaintext.resize(work::longest);
    w.ciphertext.resize(work::longest);
    w.out.resize(work::longest + 64);
    for (std::size_t i = 0; i < work::longest; ++i) {
        w.plaintext[i] = static_cast<std::uint8_t>(i * i + i / 251);
    }
    for (std::size_t i = 0; i < sizeof w.key; ++i) w.key[i] = static_cast<std::uint8_t>(i);
    return w;
}

field make_field() {
    field made{make_work(), {}, {}};
    for (const aead_kernel& kernel : crypto::aead_kernel_table()) {
        if (!kernel.supported()) continue;
        made.whole.push_back(std::make_unique<culvert_kernel>(kernel));
        made.streams.push_back(std::make_unique<culvert_stream>(kernel));
    }
    for (const auto& make : {ipsec_mb, openssl, libgcrypt, libsodium}) {
        for (auto& each : make().aeads) made.whole.push_back(std::move(each));
    }
    return made;
}

void measure_seal(benchmark::State& state, work& w, aead& by, std::size_t size) {
    for (auto _ : state) {
        by.seal(w, size);
        benchmark::ClobberMemory();
    }
}

template <class Open>
void measure_open(benchmark::State& state, field& all, std::size_t size, Open open) {
    // The ciphertext and the tag that belong to this size, by the first kernel.
    all.whole.front()->seal(all.w, size);
    std::copy_n(all.w.out.begin(), size, all.w.ciphertext.begin());
    for (auto _ : state) {
        if (!open()) {
            state.SkipWithError("does not open what is right");
            break;
        }
        benchmark::ClobberMemory();
    }
}

void add_whole(rows& to, field& all, std::size_t size) {
    for (const auto& each : all.whole) {
        aead& by = *each;
        to.add("seal/" + std::to_string(size), by.name(),
               [&, size](auto& state) { measure_seal(state, all.w, by, size); });
    }
    for (const auto& each : all.whole) {
        aead& by = *each;
        to.add("open/" + std::to_string(size), by.name(), [&, size](auto& state) {
            measure_open(state, all, size, [&] { return by.open(all.w, size); });
        });
    }
}

// With the best kernel's whole message in the same rounds, to compare with.
void add_pieces(rows& to, field& all, std::size_t piece) {
    const std::string row = "pieces/" + std::to_string(piece);
    aead& best = *all.whole.front();
    to.add(row, best.name() + " whole", [&](auto& state) {
        measure_open(state, all, whole, [&] { return best.open(all.w, whole); });
    });
    for (const aeads* some : {&all.whole, &all.streams}) {
        for (const auto& each : *some) {
            aead& by = *each;
            if (!by.has_pieces()) continue;
            to.add(row, by.name(), [&, piece](auto& state) {
                measure_open(state, all, whole,
                             [&] { return by.open_pieces(all.w, whole, piece); });
            });
        }
    }
}

}  // namespace

void add_aead(rows& to) {
    static field all = make_field();
    for (const std::size_t size : sizes) add_whole(to, all, size);
    for (const std::size_t piece : piece_sizes) add_pieces(to, all, piece);
}

}  // namespace culvert::bench
