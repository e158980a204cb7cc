// Poly1305: published vectors, vectors that drive the accumulator to its edges, and libsodium as a
// second opinion. Everything runs once for each kernel.
#include "crypto/poly1305.hpp"

#include <doctest/doctest.h>
#include <sodium.h>

#include <utility>

#include "crypto/kernels/poly1305_arithmetic.hpp"
#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::poly1305;
using kernel = crypto::poly1305_kernel;

struct mac_case {
    buffer key, message, tag;
};

const auto kernels = runnable(crypto::poly1305_kernels());

// The longest run of blocks that a kernel takes at once, in bytes.
std::size_t widest() {
    std::size_t blocks = 1;
    for (const kernel* each : kernels) blocks = std::max(blocks, each->width);
    return blocks * poly1305::block_size;
}

buffer finished(poly1305 mac) {
    buffer tag(16);
    std::move(mac).finish(crypto::bytes(tag).first<16>());
    return tag;
}

buffer authenticate(bytes_view key, bytes_view message, const kernel& with) {
    poly1305 mac(exactly<32>(key), with);
    mac.update(message);
    return finished(std::move(mac));
}

// The same by libsodium.
buffer oracle(const buffer& key, const buffer& message) {
    buffer tag(16);
    crypto_onetimeauth_poly1305(tag.data(), address(bytes_view(message)), message.size(),
                                key.data());
    return tag;
}

std::vector<mac_case> cases_of(std::string_view path, const char* key, const char* message,
                               const char* tag) {
    std::vector<mac_case> cases;
    for (const vector_record& record : read_vectors(path)) {
        if (record.has("test") && record.text("test") != "poly1305") continue;
        if (record.has("initial_h")) continue;
        cases.push_back({record.bytes(key), record.bytes(message), record.bytes(tag)});
    }
    return cases;
}

// One call, unaligned, cut in two, byte by byte.
void check_vector(const mac_case& c) {
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        CHECK(authenticate(c.key, c.message, *each) == c.tag);

        const buffer moved = joined(buffer(1), c.message);
        CHECK(authenticate(c.key, bytes_view(moved).subspan(1), *each) == c.tag);

        for (const std::size_t cut : cuts(c.message.size())) {
            poly1305 mac(exactly<32>(c.key), *each);
            mac.update(bytes_view(c.message).first(cut));
            mac.update(bytes_view(c.message).subspan(cut));
            if (finished(std::move(mac)) != c.tag) FAIL("wrong when cut at " << cut);
        }

        if (c.message.size() > 100000) continue;
        poly1305 mac(exactly<32>(c.key), *each);
        for (const std::uint8_t& byte : c.message) mac.update({&byte, 1});
        CHECK(finished(std::move(mac)) == c.tag);
    }
}

void check_vectors(const std::vector<mac_case>& cases, std::size_t count) {
    REQUIRE(cases.size() == count);
    for (const mac_case& c : cases) check_vector(c);
}

// The tag of a message of whole blocks behind `blocks` others in the kernel's state: while r = 0
// the accumulator stays 0, and only then r becomes that of the key.
buffer tag_after_leading_blocks(const mac_case& c, std::size_t blocks, const kernel& with) {
    crypto::poly1305_state state{};
    const buffer leading(16 * blocks, 0x5a);
    with.mac_blocks(state, leading.data(), blocks);
    state.r = {crypto::load64_le(c.key.data()) & 0x0ffffffc0fffffff,
               crypto::load64_le(c.key.data() + 8) & 0x0ffffffc0ffffffc};
    with.mac_blocks(state, c.message.data(), c.message.size() / 16);
    crypto::detail::reduce(state);
    crypto::detail::add_block(state, crypto::load64_le(c.key.data() + 16),
                              crypto::load64_le(c.key.data() + 24), 0);
    buffer tag(16);
    crypto::store64_le(tag.data(), state.h[0]);
    crypto::store64_le(tag.data() + 8, state.h[1]);
    return tag;
}

buffer repeated(std::string_view byte, std::size_t times) {
    buffer result;
    for (std::size_t i = 0; i < times; ++i) result = joined(result, from_hex(byte));
    return result;
}

buffer key_of(std::uint8_t r, std::uint8_t s) {
    buffer key(32, s);
    std::fill_n(key.begin(), 16, 0);
    key[0] = r;
    return key;
}

// With r = 1 each block adds itself. Four blocks, 3·(2^128 + 2^128 − 1) + 2^128 + 2^128 − 7, add up
// to 2·(2^130 − 5), which is nothing.
mac_case led_by_fours_that_add_nothing(const mac_case& c, std::size_t fours) {
    buffer leading;
    for (std::size_t i = 0; i < fours; ++i) {
        leading = joined(leading, repeated("ff", 48));
        leading = joined(leading, joined(from_hex("f9"), repeated("ff", 15)));
    }
    return {c.key, joined(leading, c.message), c.tag};
}

}  // namespace

TEST_CASE("RFC 8439") {
    check_vectors(cases_of("rfc/rfc8439.txt", "key", "message", "tag"), 12);
}

TEST_CASE("Go's vectors") {
    check_vectors(cases_of("poly1305/poly1305_go.txt", "key", "message", "tag"), 68);
}

TEST_CASE("BoringSSL's vectors, with lengths around the widest kernels and OpenSSL's old bugs") {
    check_vectors(cases_of("poly1305/poly1305_tests_boringssl.txt", "Key", "Input", "MAC"), 33);
}

TEST_CASE("messages that broke other implementations") {
    check_vectors(cases_of("poly1305/poly1305_misc.txt", "key", "message", "tag"), 14);
}

TEST_CASE("messages that bring the accumulator to its edges") {
    check_vectors(cases_of("poly1305/poly1305_target_generated.txt", "key", "message", "tag"), 268);
}

TEST_CASE("all bits set, where limbs and carries are largest") {
    std::vector<mac_case> cases;
    for (const vector_record& record : read_vectors("poly1305/poly1305_all_ff_generated.txt")) {
        cases.push_back({joined(record.bytes("r"), record.bytes("s")),
                         buffer(record.number("message_ff_len"), 0xff), record.bytes("tag")});
    }
    check_vectors(cases, 387);
}

TEST_CASE("Go's vectors that begin with a given accumulator") {
    std::size_t count = 0;
    for (const vector_record& record : read_vectors("poly1305/poly1305_go.txt")) {
        if (!record.has("initial_h")) continue;
        ++count;
        buffer initial = record.bytes("initial_h");  // big-endian
        REQUIRE(initial.size() == 24);
        std::reverse(initial.begin(), initial.end());
        const buffer key = record.bytes("key");
        const buffer message = record.bytes("message");
        for (const kernel* each : kernels) {
            CAPTURE(std::string(each->name));
            crypto::poly1305_state state{};
            state.r = {crypto::load64_le(key.data()) & 0x0ffffffc0fffffff,
                       crypto::load64_le(key.data() + 8) & 0x0ffffffc0ffffffc};
            // h[2] is 7 there and must be at most 4 here: the bit 2^130 comes back as 5.
            const std::uint64_t top = crypto::load64_le(initial.data() + 16);
            state.h = {crypto::load64_le(initial.data()), crypto::load64_le(initial.data() + 8),
                       top & 3};
            crypto::detail::add_block(state, 5 * (top >> 2), 0, 0);
            each->mac_blocks(state, message.data(), message.size() / 16);
            crypto::detail::reduce(state);
            crypto::detail::add_block(state, crypto::load64_le(key.data() + 16),
                                      crypto::load64_le(key.data() + 24), 0);
            const buffer tag = record.bytes("tag");
            CHECK(state.h[0] == crypto::load64_le(tag.data()));
            CHECK(state.h[1] == crypto::load64_le(tag.data() + 8));
        }
    }
    CHECK(count == 4);
}

// floodyberry/poly1305-donna #2, RustCrypto/universal-hashes #49, CryptoSwift #183, wolfSSL #1079:
// the last reduction and carries between limbs, and wide code that is entered and left around them.
TEST_CASE("sums at the edge of the prime, also after leading blocks that change nothing") {
    const mac_case cases[] = {
        {key_of(2, 0), repeated("ff", 16), joined(from_hex("03"), buffer(15))},
        {key_of(2, 0xff), joined(from_hex("02"), buffer(15)), joined(from_hex("03"), buffer(15))},
        {key_of(1, 0),
         joined(joined(repeated("ff", 16), from_hex("f0")),
                joined(repeated("ff", 15), joined(from_hex("11"), buffer(15)))),
         joined(from_hex("05"), buffer(15))},
        {key_of(1, 0),
         joined(joined(repeated("ff", 16), from_hex("fb")),
                joined(repeated("fe", 15), repeated("01", 16))),
         buffer(16)},
        {key_of(2, 0), joined(from_hex("fd"), repeated("ff", 15)),
         joined(from_hex("fa"), repeated("ff", 15))},
    };
    for (const mac_case& c : cases) {
        check_vector(c);
        for (std::size_t leading = 0; leading <= 16; ++leading) {
            for (const kernel* each : kernels) {
                CAPTURE(std::string(each->name));
                CHECK(tag_after_leading_blocks(c, leading, *each) == c.tag);
            }
            if (c.key[0] == 1) check_vector(led_by_fours_that_add_nothing(c, leading));
        }
    }
}

TEST_CASE("libsodium agrees on every length up to 1100 bytes and on long messages") {
    random_source random;
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (std::size_t size = 0; size <= std::max<std::size_t>(1100, 2 * widest() + 1); ++size) {
            const buffer key = random.bytes(32);
            const buffer message = random.bytes(size);
            if (authenticate(key, message, *each) != oracle(key, message)) {
                FAIL("wrong at " << size << " bytes");
            }
        }
        for (int i = 0; i < 100; ++i) {
            const buffer key = random.bytes(32);
            const buffer message = random.bytes(random.below(200000));
            CHECK(authenticate(key, message, *each) == oracle(key, message));
        }
    }
}

TEST_CASE("pieces of any size give the tag of the whole") {
    random_source random;
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (int round = 0; round < (slowed ? 50 : 500); ++round) {
            const buffer key = random.bytes(32);
            const buffer message = random.bytes(random.below(10000));
            poly1305 mac(exactly<32>(key), *each);
            std::size_t at = 0;
            for (const std::size_t size : random.partition(message.size())) {
                mac.update(bytes_view(message).subspan(at, size));
                at += size;
            }
            CHECK(finished(std::move(mac)) == oracle(key, message));
        }
    }
}

TEST_CASE("padding is zero bytes up to the next multiple of 16 and nothing on one") {
    random_source random;
    const buffer key = random.bytes(32);
    for (const kernel* each : kernels) {
        for (std::size_t size = 0; size <= 65; ++size) {
            const buffer message = random.bytes(size);
            buffer padded = message;
            padded.resize((size + 15) / 16 * 16);
            poly1305 mac(exactly<32>(key), *each);
            mac.update(message);
            mac.pad_to_block();
            mac.pad_to_block();
            CHECK(finished(std::move(mac)) == oracle(key, padded));
        }
    }
}

TEST_CASE("nothing is read behind the message, and its alignment does not matter") {
    random_source random;
    const buffer key = random.bytes(32);
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (std::size_t size = 0; size <= 2 * widest() + 17; ++size) {
            const buffer message = random.bytes(size);
            const guarded_buffer guarded{bytes_view(message)};
            CHECK(authenticate(key, guarded.span(), *each) == oracle(key, message));
        }
        const buffer message = random.bytes(300);
        const buffer right = oracle(key, message);
        buffer memory(364);
        for (std::size_t offset = 0; offset < 64; ++offset) {
            std::copy(message.begin(), message.end(), memory.begin() + static_cast<long>(offset));
            CHECK(authenticate(key, bytes_view(memory).subspan(offset, 300), *each) == right);
        }
    }
}

TEST_CASE("every kernel gives the portable kernel's accumulator from random states") {
    random_source random;
    const kernel& portable = crypto::poly1305_kernels().back();
    for (const kernel* each : kernels) {
        CAPTURE(std::string(each->name));
        for (int round = 0; round < 1000; ++round) {
            const buffer seed = random.bytes(40);
            crypto::poly1305_state state{{crypto::load64_le(seed.data()) & 0x0ffffffc0fffffff,
                                          crypto::load64_le(seed.data() + 8) & 0x0ffffffc0ffffffc},
                                         {crypto::load64_le(seed.data() + 16),
                                          crypto::load64_le(seed.data() + 24), seed[32] & 3u}};
            crypto::poly1305_state other = state;
            const buffer message = random.bytes(16 * random.below(2 * widest() / 16 + 40));
            each->mac_blocks(state, message.data(), message.size() / 16);
            portable.mac_blocks(other, message.data(), message.size() / 16);
            CHECK(state.h[2] <= 4);
            CHECK(state.r == other.r);
            crypto::detail::reduce(state);
            crypto::detail::reduce(other);
            CHECK(state.h == other.h);
        }
    }
}

}  // namespace culvert::tests
