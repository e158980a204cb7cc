// ChaCha20 and HChaCha20: published vectors, libsodium as a second opinion, and the contract of the
// key stream. Everything runs once for each kernel.
#include "crypto/chacha20.hpp"

#include <doctest/doctest.h>
#include <sodium.h>

#include <utility>

#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::chacha20;
using kernel = crypto::chacha20_kernel;

struct stream_case {
    buffer key, nonce;
    std::uint32_t counter = 0;
    buffer in, out;
};

const auto kernels = runnable(crypto::chacha20_kernels());

// The longest run of blocks that a kernel takes at once, in bytes.
std::size_t widest() {
    std::size_t blocks = 1;
    for (const kernel* each : kernels) blocks = std::max(blocks, each->width);
    return blocks * chacha20::block_size;
}

// Key and nonce of the inner cipher for a nonce of 24 bytes, the nonce itself for one of 12.
void shorten(stream_case& c) {
    if (c.nonce.size() == chacha20::nonce_size) return;
    const block_view<24> nonce = exactly<24>(c.nonce);
    buffer subkey(32);
    crypto::hchacha20(exactly<32>(c.key), nonce.first<16>(), crypto::bytes(subkey).first<32>());
    c.key = subkey;
    c.nonce = joined(buffer(4), nonce.last<8>());
}

chacha20 cipher(const stream_case& c, const kernel& with) {
    return {exactly<32>(c.key), exactly<12>(c.nonce), c.counter, with};
}

buffer encrypt(const stream_case& c, const kernel& with) {
    buffer out(c.in.size());
    REQUIRE(cipher(c, with).xor_stream(c.in, out));
    return out;
}

// The same by libsodium.
buffer oracle(const stream_case& c) {
    buffer out(c.in.size());
    REQUIRE(crypto_stream_chacha20_ietf_xor_ic(address(out), address(bytes_view(c.in)), c.in.size(),
                                               c.nonce.data(), c.counter, c.key.data()) == 0);
    return out;
}

stream_case random_case(random_source& random, std::size_t size, std::uint32_t counter = 0) {
    return {random.bytes(32), random.bytes(12), counter, random.bytes(size), {}};
}

// The words of RFC 8439's examples as the bytes that they stand for.
buffer words_as_bytes(std::string_view words) {
    buffer result;
    for (std::size_t at = 0; at < words.size(); at += 9) {
        buffer word = from_hex(words.substr(at, 8));
        result.insert(result.end(), word.rbegin(), word.rend());
    }
    return result;
}

std::vector<stream_case> rfc8439_cases() {
    std::vector<stream_case> cases;
    for (const vector_record& record : read_vectors("rfc/rfc8439.txt")) {
        const std::string& test = record.text("test");
        if (test == "chacha20_block") {
            const buffer out = record.has("keystream") ? record.bytes("keystream")
                                                       : words_as_bytes(record.text("state_final"));
            if (record.has("state_final")) {
                CHECK(out == words_as_bytes(record.text("state_final")));
            }
            cases.push_back({record.bytes("key"), record.bytes("nonce"),
                             static_cast<std::uint32_t>(record.number("counter")),
                             buffer(out.size()), out});
        } else if (test == "chacha20_encrypt") {
            cases.push_back({record.bytes("key"), record.bytes("nonce"),
                             static_cast<std::uint32_t>(record.number("counter")),
                             record.bytes("plaintext"), record.bytes("ciphertext")});
        } else if (test == "poly1305_key_gen") {
            cases.push_back({record.bytes("key"), record.bytes("nonce"), 0, buffer(32),
                             record.bytes("poly_key")});
        }
    }
    return cases;
}

std::vector<stream_case> xchacha_cases() {
    std::vector<stream_case> cases;
    for (const vector_record& record : read_vectors("rfc/draft-irtf-cfrg-xchacha-03.txt")) {
        if (record.text("test") != "xchacha20_encrypt") continue;
        cases.push_back({record.bytes("key"), record.bytes("nonce"),
                         static_cast<std::uint32_t>(record.number("counter")),
                         record.bytes("plaintext"), record.bytes("ciphertext")});
        cases.push_back(cases.back());
        cases.back().out = record.bytes("keystream");
        cases.back().in = buffer(cases.back().out.size());
    }
    for (const vector_record& record : read_vectors("chacha/xchacha20_libsodium.txt")) {
        if (record.text("test") != "xchacha20_keystream") continue;
        const buffer out = record.bytes("keystream");
        cases.push_back({record.bytes("key"), record.bytes("nonce"), 0, buffer(out.size()), out});
    }
    return cases;
}

std::vector<stream_case> go_cases() {
    std::vector<stream_case> cases;
    for (const vector_record& record : read_vectors("chacha/chacha20_go.txt")) {
        cases.push_back({record.bytes("key"), record.bytes("nonce"),
                         static_cast<std::uint32_t>(record.number("counter")),
                         record.bytes("input"), record.bytes("output")});
    }
    return cases;
}

// In one call, and cut in two.
void check_vector(stream_case c) {
    shorten(c);
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        CHECK(encrypt(c, *each) == c.out);
        for (const std::size_t cut : cuts(c.in.size())) {
            buffer out = c.in;
            chacha20 stream = cipher(c, *each);
            const auto [head, tail] =
                std::pair(crypto::bytes(out).first(cut), crypto::bytes(out).subspan(cut));
            if (!stream.xor_stream(head, head) || !stream.xor_stream(tail, tail) || out != c.out) {
                FAIL("wrong when cut at " << cut);
            }
        }
    }
}

}  // namespace

TEST_CASE("RFC 8439: blocks, encryption and Poly1305 keys") {
    const auto cases = rfc8439_cases();
    REQUIRE(cases.size() == 6 + 4 + 4);
    for (const stream_case& c : cases) check_vector(c);
}

TEST_CASE("XChaCha20 streams: the draft and libsodium") {
    const auto cases = xchacha_cases();
    REQUIRE(cases.size() == 2 * 2 + 10);
    for (const stream_case& c : cases) check_vector(c);
}

TEST_CASE("Go's vectors") {
    const auto cases = go_cases();
    REQUIRE(cases.size() == 80);
    for (const stream_case& c : cases) check_vector(c);
}

TEST_CASE("HChaCha20: the draft and libsodium") {
    auto records = read_vectors("rfc/draft-irtf-cfrg-xchacha-03.txt");
    for (auto& more : read_vectors("chacha/xchacha20_libsodium.txt")) records.push_back(more);
    std::size_t count = 0;
    for (const vector_record& record : records) {
        if (record.text("test") != "hchacha20") continue;
        ++count;
        buffer key = record.bytes("key");
        const buffer prefix = record.bytes("nonce16");
        buffer subkey(32);
        crypto::hchacha20(exactly<32>(key), exactly<16>(prefix), crypto::bytes(subkey).first<32>());
        CHECK(subkey == record.bytes("subkey"));
        crypto::hchacha20(exactly<32>(key), exactly<16>(prefix), crypto::bytes(key).first<32>());
        CHECK(key == subkey);
    }
    CHECK(count == 11);
}

TEST_CASE("libsodium agrees on random streams of every length up to twice the widest kernel") {
    REQUIRE(sodium_init() >= 0);
    random_source random;
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (std::size_t size = 0; size <= 2 * widest() + 65; ++size) {
            const stream_case c = random_case(random, size, static_cast<std::uint32_t>(size * 77));
            if (encrypt(c, *each) != oracle(c)) FAIL("wrong at " << size << " bytes");
        }
        for (int i = 0; i < 50; ++i) {
            const stream_case c = random_case(random, random.below(100000));
            CHECK(encrypt(c, *each) == oracle(c));
        }
    }
}

TEST_CASE("calls of any size continue one stream, xored or bare") {
    random_source random;
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (int round = 0; round < (slowed ? 20 : 200); ++round) {
            const stream_case c = random_case(random, random.below(20000));
            const buffer whole = encrypt(c, *each);
            chacha20 stream = cipher(c, *each);
            buffer out(c.in.size());
            std::size_t at = 0;
            for (const std::size_t size : random.partition(c.in.size())) {
                const crypto::bytes to = crypto::bytes(out).subspan(at, size);
                const bool bare = random.below(2) == 0;
                REQUIRE((bare ? stream.keystream(to)
                              : stream.xor_stream(bytes_view(c.in).subspan(at, size), to)));
                for (std::size_t i = 0; bare && i < size; ++i) to[i] ^= c.in[at + i];
                at += size;
            }
            CHECK(out == whole);
        }
    }
}

TEST_CASE("the block counter gives the stream from that block on") {
    random_source random;
    stream_case c = random_case(random, 64 * 40);
    c.in.assign(c.in.size(), 0);
    const buffer whole = oracle(c);
    for (const kernel* each : kernels) {
        for (std::uint32_t block = 0; block < 40; ++block) {
            c.counter = block;
            buffer out(64);
            REQUIRE(cipher(c, *each).keystream(out));
            CHECK(std::equal(out.begin(), out.end(), whole.begin() + 64 * block));
        }
    }
}

TEST_CASE(
    "input is left alone, memory behind input and output is not touched, any alignment works") {
    random_source random;
    const stream_case c = random_case(random, 2 * widest() + 1);
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (std::size_t size = 0; size <= c.in.size(); size += 1 + size / 64) {
            const stream_case part{c.key, c.nonce, 0, {c.in.data(), c.in.data() + size}, {}};
            const guarded_buffer in(part.in);
            const guarded_buffer out(size);
            REQUIRE(cipher(part, *each).xor_stream(in.span(), out.span()));
            CHECK(std::ranges::equal(out.span(), oracle(part)));
            CHECK(std::ranges::equal(in.span(), part.in));
        }
        buffer from(64 + 257), to(64 + 257);
        const stream_case part{c.key, c.nonce, 0, {c.in.begin(), c.in.begin() + 257}, {}};
        const buffer right = oracle(part);
        for (std::size_t i = 0; i < 64; ++i) {
            for (std::size_t j = 0; j < 64; j += stride(7)) {
                std::copy(part.in.begin(), part.in.end(), from.data() + i);
                const crypto::bytes out = crypto::bytes(to).subspan(j, 257);
                REQUIRE(cipher(part, *each).xor_stream(bytes_view(from).subspan(i, 257), out));
                if (!std::ranges::equal(out, right)) FAIL("wrong at offsets " << i << ", " << j);
            }
        }
    }
}

// RustCrypto/stream-ciphers #64 and #381, libsodium #753, OpenSSL #15193: implementations that went
// on past the last block of the 32-bit counter, from the start of the stream or into the nonce.
TEST_CASE("the block counter never wraps: what would pass it is refused before any output") {
    random_source random;
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (const std::size_t left : sizes{1, 2, 3, 4, 15, 16, 17, 33}) {
            const auto counter = static_cast<std::uint32_t>(0 - left);
            const stream_case c = random_case(random, 64 * left, counter);
            const buffer right = oracle(c);
            for (const std::size_t begun : sizes{0, 1, 63}) {
                chacha20 stream = cipher(c, *each);
                buffer out(c.in.size() + 64 * 16, 0xaa);
                REQUIRE(stream.xor_stream(bytes_view(c.in).first(begun), out));
                CHECK(stream.remaining() == c.in.size() - begun);

                const buffer before = out;
                for (const std::size_t excess : sizes{1, 64, 64 * 16}) {
                    const buffer more(c.in.size() - begun + excess);
                    CHECK_FALSE(stream.xor_stream(more, crypto::bytes(out).first(more.size())));
                    CHECK_FALSE(stream.keystream(crypto::bytes(out).first(more.size())));
                }
                CHECK(out == before);
                CHECK(stream.remaining() == c.in.size() - begun);

                REQUIRE(stream.xor_stream(bytes_view(c.in).subspan(begun),
                                          crypto::bytes(out).subspan(begun)));
                CHECK(std::equal(right.begin(), right.end(), out.begin()));
                CHECK(stream.remaining() == 0);
                CHECK_FALSE(stream.keystream(crypto::bytes(out).first(1)));
                CHECK(stream.xor_stream({}, {}));
            }
        }
    }
}

TEST_CASE("a stream from block 0 has 2^38 bytes") {
    CHECK(chacha20(exactly<32>(buffer(32)), exactly<12>(buffer(12))).remaining() == std::uint64_t{1}
                                                                                        << 38);
}

TEST_CASE("a short output and a partial overlap are refused with nothing changed") {
    random_source random;
    const stream_case c = random_case(random, 200);
    for (const kernel* each : kernels) {
        chacha20 stream = cipher(c, *each);
        buffer memory = joined(c.in, buffer(100));
        const buffer before = memory;
        const bytes_view in = bytes_view(memory).first(200);
        CHECK_FALSE(stream.xor_stream(in, crypto::bytes(memory).first(199)));
        for (const std::size_t shift : sizes{1, 12, 16, 63, 64, 65, 99}) {
            CHECK_FALSE(stream.xor_stream(in, crypto::bytes(memory).subspan(shift, 200)));
            CHECK_FALSE(stream.xor_stream(bytes_view(memory).subspan(shift, 200), memory));
        }
        CHECK(memory == before);
        REQUIRE(stream.xor_stream(in, memory));  // in place, and the output may be longer
        CHECK(std::ranges::equal(in, oracle(c)));
        CHECK(memory.back() == 0);
    }
}

TEST_CASE("a stream that was moved from refuses everything; its target goes on") {
    random_source random;
    const stream_case c = random_case(random, 300);
    const buffer right = oracle(c);
    chacha20 first = cipher(c, *kernels.front());
    buffer out(300);
    REQUIRE(first.xor_stream(bytes_view(c.in).first(100), out));
    chacha20 second = std::move(first);
    CHECK(first.remaining() == 0);  // NOLINT(bugprone-use-after-move)
    CHECK_FALSE(first.keystream(crypto::bytes(out).subspan(200, 1)));
    REQUIRE(second.xor_stream(bytes_view(c.in).subspan(100), crypto::bytes(out).subspan(100)));
    CHECK(out == right);
}

TEST_CASE("every kernel gives the portable kernel's bytes and state from random states") {
    random_source random;
    const kernel& portable = crypto::chacha20_kernels().back();
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (int round = 0; round < 300; ++round) {
            const std::size_t blocks = random.below(2 * widest() / 64 + 2);
            crypto::chacha20_words state;
            for (auto& word : state) word = static_cast<std::uint32_t>(random.below(1ULL << 32));
            if (round % 2 == 0) state[12] = static_cast<std::uint32_t>(0 - blocks);
            crypto::chacha20_words other = state;
            const buffer in = random.bytes(64 * blocks);
            buffer a(in.size()), b(in.size());
            each->xor_blocks(state, in.data(), a.data(), blocks);
            portable.xor_blocks(other, in.data(), b.data(), blocks);
            CHECK(a == b);
            CHECK(state == other);
        }
    }
}

}  // namespace culvert::tests
