#include "bench/crypto/aead_bench.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "crypto/kernels/aead.hpp"

namespace culvert::bench {
namespace {

using crypto::aead_kernel;
using crypto::bytes;
using crypto::bytes_view;
namespace aead = crypto::chacha20poly1305;

constexpr std::size_t sizes[] = {64, 100, 256, 1024, 1400, 4096, 16384, 65536};
constexpr std::size_t piece_sizes[] = {1, 16, 100, 1000, 1400};
constexpr std::size_t whole = 16384;  // what is opened in pieces

class culvert_kernel : public contender {
  public:
    explicit culvert_kernel(const aead_kernel& kernel) : kernel_(kernel) {}
    [[nodiscard]] std::string name() const override {
        return std::string("culvert ") + kernel_.name;
    }
    void seal(work& w, std::size_t size) override {
        if (!aead::seal(w.key, w.nonce, w.ad, bytes_view(w.plaintext).first(size),
                        bytes(w.out).first(size), w.tag, kernel_)) {
            throw std::runtime_error("seal refused");
        }
    }
    bool open(work& w, std::size_t size) override {
        return aead::open(w.key, w.nonce, w.ad, bytes_view(w.ciphertext).first(size), w.tag,
                          bytes(w.out).first(size), kernel_);
    }
    [[nodiscard]] bool has_pieces() const override { return true; }
    bool open_pieces(work& w, std::size_t size, std::size_t piece) override {
        aead::decryptor message(w.key, w.nonce, kernel_);
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
        aead::stream_opener message(w.key, w.nonce, kernel_);
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

bool is_stream(const contender& each) {
    return dynamic_cast<const culvert_stream*>(&each) != nullptr;
}

std::string piece_operation(std::size_t piece) {
    return "open in pieces of " + std::to_string(piece);
}
std::string name_of(const std::string& operation, std::size_t size, const std::string& contender) {
    return operation + "/" + std::to_string(size) + "/" + contender;
}

template <class Function>
void add(const std::string& name, Function function) {
    benchmark::RegisterBenchmark(name.c_str(), [function](benchmark::State& state) {
        for (auto _ : state) {
            if (!function()) {
                state.SkipWithError("wrong");
                break;
            }
            benchmark::ClobberMemory();
        }
    });
}

// Calls function(operation, size, contender) for all that is measured, in the order of the table.
template <class Function>
void for_each_line(const contenders& all, Function function) {
    for (const char* operation : {"seal", "open"}) {
        for (const std::size_t size : sizes) {
            for (const auto& each : all) {
                if (!is_stream(*each)) function(operation, size, 0, *each);
            }
        }
    }
    for (const std::size_t piece : piece_sizes) {
        for (const auto& each : all) {
            if (each->has_pieces()) function(piece_operation(piece), whole, piece, *each);
        }
    }
}

// Ratios of times, of the slower direction.
class ratios {
  public:
    explicit ratios(const collector& from) : from_(from) {}
    [[nodiscard]] double of(const std::string& us, const std::string& peer,
                            std::size_t size) const {
        return std::min(one("seal", us, peer, size), one("open", us, peer, size));
    }
    [[nodiscard]] double ns(const std::string& operation, std::size_t size,
                            const std::string& who) const {
        const std::string name = name_of(operation, size, who);
        return from_.has(name) ? from_.time(name) : 0;
    }

  private:
    [[nodiscard]] double one(const std::string& operation, const std::string& us,
                             const std::string& peer, std::size_t size) const {
        return ns(operation, size, peer) / ns(operation, size, us);
    }
    const collector& from_;
};

}  // namespace

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

aead_bench::aead_bench() : work_(make_work()) {
    for (const aead_kernel& kernel : crypto::aead_kernel_table()) {
        if (!kernel.supported()) continue;
        all_.push_back(std::make_unique<culvert_kernel>(kernel));
        all_.push_back(std::make_unique<culvert_stream>(kernel));
    }
    for (auto& peer : aead_peers()) all_.push_back(std::move(peer));
}

void aead_bench::register_all() {
    for_each_line(all_, [this](const std::string& operation, std::size_t size, std::size_t piece,
                               contender& each) {
        // The ciphertext and the tag that belong to this size, by the first kernel.
        const auto prepare = [this, size] {
            all_.front()->seal(work_, size);
            std::copy_n(work_.out.begin(), size, work_.ciphertext.begin());
        };
        const std::string name = name_of(operation, size, each.name());
        if (operation == "seal") {
            add(name, [this, size, &each] {
                each.seal(work_, size);
                return true;
            });
            return;
        }
        benchmark::RegisterBenchmark(
            name.c_str(), [this, prepare, size, piece, &each](benchmark::State& state) {
                prepare();
                for (auto _ : state) {
                    const bool right =
                        piece == 0 ? each.open(work_, size) : each.open_pieces(work_, size, piece);
                    if (!right) {
                        state.SkipWithError("wrong");
                        break;
                    }
                    benchmark::ClobberMemory();
                }
            });
    });
}

std::vector<line> aead_bench::lines(const collector& from) const {
    std::vector<line> lines;
    for_each_line(all_, [&](const std::string& operation, std::size_t size, std::size_t,
                            const contender& each) {
        const std::string name = name_of(operation, size, each.name());
        if (from.has(name)) lines.push_back({operation, each.name(), size, from.time(name)});
    });
    return lines;
}

std::vector<bar> aead_bench::bars(const collector& from) const {
    const ratios r(from);
    const std::string best = all_.front()->name();
    std::vector<bar> bars{
        {"seal and open, 64 KiB, by ipsec-mb", r.of(best, "ipsec-mb", 65536), 1.5},
        {"seal and open, 64 KiB, by OpenSSL", r.of(best, "openssl", 65536), 1.8},
        {"seal and open, 16 KiB, by ipsec-mb", r.of(best, "ipsec-mb", 16384), 1.45},
        {"seal and open, 16 KiB, by OpenSSL", r.of(best, "openssl", 16384), 1.75},
        {"seal and open, 16 KiB, by libsodium", r.of(best, "libsodium", 16384), 5.5},
        {"seal and open, 16 KiB, AVX2, by libsodium", r.of("culvert avx2", "libsodium", 16384),
         2.2},
        {"seal and open, 64 B, by ipsec-mb", r.of(best, "ipsec-mb", 64), .95},
        {"seal and open, 100 B, by ipsec-mb", r.of(best, "ipsec-mb", 100), .95},
        {"seal and open, 256 B, by ipsec-mb", r.of(best, "ipsec-mb", 256), .95},
        {"seal and open, 1400 B, by ipsec-mb", r.of(best, "ipsec-mb", 1400), 1.1},
    };
    const double whole_ns = r.ns("open", whole, best);
    const auto pieces = [&](std::size_t piece, const std::string& who) {
        return r.ns(piece_operation(piece), whole, who);
    };
    bars.push_back({"16 KiB opened by 100 B, by ipsec-mb's direct calls",
                    pieces(100, "ipsec-mb direct") / pieces(100, best), 5});
    bars.push_back({"16 KiB opened by 100 B, by the whole", whole_ns / pieces(100, best), .5});
    bars.push_back({"16 KiB opened by 1400 B, by the whole", whole_ns / pieces(1400, best), .85});
    return bars;
}

}  // namespace culvert::bench
