// cSHAKE128 and cSHAKE256: published vectors, cases from public reports about other libraries, and
// the contract of absorb, squeeze and reset. Everything runs once for each kernel.
#include "crypto/cshake.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <utility>

#include "crypto/shake.hpp"
#include "crypto/sp800_185.hpp"
#include "tests/crypto/hash_cases.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::cshake128;
using crypto::cshake256;

const auto kernels = runnable(crypto::keccak_kernels());
const buffer x = counting(4);  // the message of the reports' cases

template <class Cshake>
hash_function function(const buffer& n, const buffer& s, const crypto::keccak_kernel& kernel) {
    return [&kernel, n, s](const auto& feed, std::size_t size) {
        Cshake state(n, s, kernel);
        feed([&](bytes_view piece) { REQUIRE(state.absorb(piece)); });
        buffer out(size);
        state.squeeze(out);
        return out;
    };
}

// The functions of the files that do not name theirs have the strength of the file's name.
void check_records(const char* path, std::string_view name, std::size_t count) {
    const auto records = read_vectors(path);
    CHECK(records.size() == count);
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        for (const vector_record& record : records) {
            const std::string fn = record.has("fn") ? record.text("fn") : std::string(name);
            const bool weaker = fn == "cSHAKE128" || fn == "cshake128";
            REQUIRE((weaker || fn == "cSHAKE256" || fn == "cshake256"));
            const buffer n = record.bytes("n");
            const buffer s = record.bytes("s");
            check_hash(
                weaker ? function<cshake128>(n, s, *kernel) : function<cshake256>(n, s, *kernel),
                record.bytes("msg"), record.bytes("out"));
        }
    }
}

std::string hex_of_cshake256(bytes_view n, bytes_view s, bytes_view message) {
    buffer out(32);
    cshake256::hash(n, s, message, out);
    return to_hex(out);
}

buffer squeezed(crypto::xof& state, std::size_t size) {
    buffer out(size);
    state.squeeze(out);
    return out;
}

buffer squeezed_in_pieces(crypto::xof& state, std::size_t total) {
    static constexpr std::array<std::size_t, 9> sizes{0, 1, 135, 136, 137, 272, 1, 0, 7};
    buffer out;
    for (std::size_t i = 0; out.size() < total; ++i) {
        const std::size_t size = std::min(sizes[i % sizes.size()], total - out.size());
        out = joined(out, squeezed(state, size));
    }
    return out;
}

std::string left(std::uint64_t number) {
    return to_hex(crypto::sp800_185::encoded::left(number).view());
}
std::string right(std::uint64_t number) {
    return to_hex(crypto::sp800_185::encoded::right(number).view());
}

}  // namespace

TEST_CASE("NIST's samples and records") {
    check_records("sp800-185/cshake_samples.txt", "", 6);
    check_records("acvp/cshake128.txt", "cSHAKE128", 2);
    check_records("acvp/cshake256.txt", "cSHAKE256", 3);
}

TEST_CASE("PyCryptodome's records with customisation") {
    check_records("sp800-185/cshake128_custom.txt", "cSHAKE128", 12);
    check_records("sp800-185/cshake256_custom.txt", "cSHAKE256", 12);
}

TEST_CASE("generated records with lengths around the rate and the encodings") {
    check_records("sp800-185/cshake_generated.txt", "", 76);
}

// RustCrypto/hashes #834, #836 and #837, js-sha3 #24, noble-hashes: a prefix that fills its last
// block exactly was padded by a whole block more, or not permuted.
TEST_CASE("a prefix that fills its block exactly") {
    const struct {
        const char* n;
        std::size_t s_size;
        const char* out;
    } cases[] = {
        {"", 128, "a9cae0ca1cb7bbc00b9d90d7e361606a97c37e52c5b612f39efc25568f8a103b"},
        {"", 129, "7d837103f8e447b6b1d2d50cf6a652a9740bfcf491cfa13f45b8b6992b9916e7"},
        {"", 130, "5d0e076a6390e3b47c6b736549005dd74b64cb1fd453cd207bc0a56dfdcb2410"},
        {"", 265, "d3eaef4df6aca29c6ace60f05a8632075afd67c8e2b71b6eea6e02299a36841c"},
        {"culvert", 121, "1ab14bf72be50ad2adc1d248f0563757cf1884ebf19c535243c3dc4dcf606902"},
        {"culvert", 122, "e39ec81d517bc174b5ba766cd8d79fd88501d5bad6885b7c11a053759ad1c875"},
        {"culvert", 123, "e0508694d3897d6dc5ccac36a6f92b57875c563f85da161873b8aadefc7d5bb4"},
    };
    for (const auto& [n, s_size, out] : cases) {
        CHECK(hex_of_cshake256(text(n), counting(s_size), x) == out);
    }
}

// XKCP/XKCP #51, liboqs #220: the suffix of cSHAKE used, or a prefix absorbed, with N and S empty.
TEST_CASE("with N and S empty it is SHAKE") {
    CHECK(hex_of_cshake256({}, {}, x) ==
          "48b8d57a5f8c29d0326049216380aa85d2d7a58b784f5a49e980ca93409e3d4b");
    for (std::size_t size = 0; size <= 300; ++size) {
        buffer a(100), b(100);
        cshake128::hash({}, {}, counting(size), a);
        crypto::shake128::hash(counting(size), b);
        CHECK(a == b);
    }
}

// golang/go #69169 and others: lengths whose encoding takes another byte.
TEST_CASE("lengths are encoded in as many bytes as they need, up to 64 bits") {
    CHECK(left(0) == "0100");
    CHECK(left(255) == "01ff");
    CHECK(left(256) == "020100");
    CHECK(left(65535) == "02ffff");
    CHECK(left(65536) == "03010000");
    CHECK(left(std::uint64_t{1} << 32) == "050100000000");
    CHECK(left(8 * ((std::uint64_t{1} << 61) - 1)) == "08fffffffffffffff8");
    CHECK(right(0) == "0001");
    CHECK(right(255) == "ff01");
    CHECK(right(256) == "010002");
    CHECK(right(65536) == "01000003");
    CHECK(right(~std::uint64_t{0}) == "ffffffffffffffff08");
}

TEST_CASE("customisation strings whose length in bits takes one byte more") {
    const struct {
        std::size_t s_size;
        const char* out;
    } cases[] = {
        {31, "4b65a0e6bc2769b61ac819dbc77003d1423e5ef44b492d7ba9beb6a95588ccd3"},
        {32, "d5af0a3329cd46d3f9e1d06a25b46357e83394fc8cedb1f3fcf4de2e62cba3b9"},
        {8191, "8368a5ad7ffcbdb48a244f450ff195f5be22b0bf4ac2f8bf272e3848761fde06"},
        {8192, "38543eaf264a2be4c594b1b5ef64b3b49680da3c2bcf0254a74f1ac9200081fd"},
    };
    for (const auto& [s_size, out] : cases) {
        CHECK(hex_of_cshake256({}, counting(s_size), x) == out);
    }
}

TEST_CASE("lengths up to 255 bytes of N and S: pieces and kernels agree") {
    random_source random;
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        check_hash_contract(function<cshake128>(text("N"), text("a customisation"), *kernel), 168);
        check_hash_contract(function<cshake256>({}, text("a customisation"), *kernel), 136);
        for (std::size_t size = 0; size < 256; ++size) {
            const buffer n = random.bytes(random.below(40));
            const buffer s = random.bytes(size);
            CHECK(hash_of(function<cshake256>(n, s, *kernel), x, 300) ==
                  hash_of(function<cshake256>(n, s, *kernels.back()), x, 300));
        }
    }
}

// RustCrypto/hashes #42, aws-lc #1839, RUSTSEC-2026-0074 (libcrux-sha3), wolfSSL #3896, ironclad
// #47.
TEST_CASE("output in pieces around the rate, and of size 0") {
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        crypto::shake256 shake(*kernel);
        REQUIRE(shake.absorb(x));
        const buffer out = squeezed_in_pieces(shake, 1000);
        CHECK(to_hex(bytes_view(out).subspan(130, 16)) == "8a72d81a2a7708c9b90d477a47e2b7e9");
        CHECK(out == oracle_hash("SHAKE256", x, 1000));
        CHECK(to_hex(oracle_hash("SHA256", out, 32)) ==
              "f7793ce0a4cc78c6f670f96b5fccc225309b533c5bafd5b798946e82e48bcb61");

        cshake256 customised({}, text("Email Signature"), *kernel);
        REQUIRE(customised.absorb(x));
        CHECK(to_hex(oracle_hash("SHA256", squeezed_in_pieces(customised, 1000), 32)) ==
              "26d2e4351a7a746d2e3171d7bf747b94330ed4ef43af44d00a5f16eff754d55a");
    }
}

TEST_CASE("a squeeze of size 0 does not end the message") {
    cshake256 state(text("N"), text("S"));
    REQUIRE(state.absorb(counting(2)));
    state.squeeze({});
    REQUIRE(state.absorb(bytes_view(x).subspan(2)));
    CHECK(to_hex(squeezed(state, 32)) == hex_of_cshake256(text("N"), text("S"), x));
}

// microsoft/SymCrypt-OpenSSL #90 and #105, bc-java #1032, bc-rust #27 and #91: the prefix forgotten
// without a message, a default length instead of the one asked for, a state that lost its prefix.
TEST_CASE("squeezing at once is the empty message; other sizes are beginnings of one output") {
    const buffer n = text("N"), s = text("S");
    buffer whole(100);
    cshake256::hash(n, s, {}, whole);
    for (const std::size_t size : sizes{1, 31, 32, 33, 100}) {
        cshake256 state(n, s);
        CHECK(std::ranges::equal(squeezed(state, size), bytes_view(whole).first(size)));
    }
}

TEST_CASE("absorbing after squeezing is refused and changes nothing") {
    cshake256 state(text("N"), text("S"));
    REQUIRE(state.absorb(x));
    buffer out = squeezed(state, 10);
    CHECK_FALSE(state.absorb(counting(200)));
    CHECK_FALSE(state.absorb({}));
    out = joined(out, squeezed(state, 22));
    CHECK(to_hex(out) == hex_of_cshake256(text("N"), text("S"), x));
}

TEST_CASE("reset restores the state after N and S, from any phase") {
    cshake256 state(text("N"), text("S"));
    for (int phase = 0; phase < 3; ++phase) {
        if (phase > 0) state.absorb(counting(500));
        if (phase > 1) squeezed(state, 200);
        state.reset();
        REQUIRE(state.absorb(x));
        CHECK(to_hex(squeezed(state, 32)) == hex_of_cshake256(text("N"), text("S"), x));
        state.reset();
    }
}

TEST_CASE("a state after a constant beginning can be kept and copied") {
    cshake256 kept({}, text("S"));
    REQUIRE(kept.absorb(counting(200)));
    for (std::size_t size = 0; size < 50; ++size) {
        cshake256 state = kept;
        REQUIRE(state.absorb(counting(size)));
        CHECK(to_hex(squeezed(state, 32)) ==
              hex_of_cshake256({}, text("S"), joined(counting(200), counting(size))));
    }
    cshake256 moved = std::move(kept);
    CHECK(squeezed(kept, 32) == squeezed(moved, 32));  // NOLINT: a move is a copy
}

TEST_CASE("the state is wiped when it ends") {
    alignas(cshake256) std::array<std::uint8_t, sizeof(cshake256)> place{};
    auto* made = new (place.data()) cshake256({}, text("S"));
    REQUIRE(made->absorb(counting(200)));
    std::destroy_at(made);
    // Rates, positions, kernel pointers and flags are all that may be left of 400 bytes of state.
    CHECK(std::count_if(place.begin(), place.end(), [](std::uint8_t byte) { return byte != 0; }) <
          40);
}

}  // namespace culvert::tests
