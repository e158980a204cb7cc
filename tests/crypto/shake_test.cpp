// SHAKE128 and SHAKE256: published vectors, libcrypto as a second opinion, and the contract of an
// extendable output. Everything runs once for each kernel.
#include "crypto/shake.hpp"

#include <doctest/doctest.h>

#include "crypto/sha3.hpp"
#include "tests/crypto/hash_cases.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

template <class Shake>
hash_function function(const crypto::keccak_kernel& kernel) {
    return [&kernel](const auto& feed, std::size_t size) {
        Shake state(kernel);
        feed([&](bytes_view piece) { REQUIRE(state.absorb(piece)); });
        buffer out(size);
        state.squeeze(out);
        return out;
    };
}

hash_function function_named(const std::string& name, const crypto::keccak_kernel& kernel) {
    if (name == "SHAKE-128") return function<crypto::shake128>(kernel);
    REQUIRE(name == "SHAKE-256");
    return function<crypto::shake256>(kernel);
}

// `fn` stands in the record where the file has both functions.
void check_records(const char* path, const char* name, std::size_t count) {
    const auto records = read_vectors(path);
    CHECK(records.size() == count);
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        CAPTURE(std::string(kernel->name));
        for (const vector_record& record : records) {
            const std::string& function = record.has("fn") ? record.text("fn") : name;
            check_hash(function_named(function, *kernel), record.bytes("msg"), record.bytes("out"));
        }
    }
}

buffer sha256_3(bytes_view message) {
    buffer digest(32);
    crypto::sha3_256::hash(message, crypto::bytes(digest).first<32>());
    return digest;
}

}  // namespace

TEST_CASE("NIST's records") {
    check_records("acvp/shake128.txt", "SHAKE-128", 254);
    check_records("acvp/shake256.txt", "SHAKE-256", 96);
    check_records("keccak/shake_cavs_selected.txt", "", 217);
}

TEST_CASE("the Keccak team's records") {
    check_records("keccak/shake128_kat.txt", "SHAKE-128", 152);
    check_records("keccak/shake256_kat.txt", "SHAKE-256", 152);
}

TEST_CASE("messages and outputs of up to 16 MiB") {
    const auto records = read_vectors("keccak/shake_long_generated.txt");
    REQUIRE(records.size() == 74);
    std::size_t by_digest = 0;
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        CAPTURE(std::string(kernel->name));
        for (const vector_record& record : records) {
            const buffer message = pattern_251(record.number("msg_pattern_len"));
            const std::size_t size = record.number("out_len");
            const buffer out = hash_of(function_named(record.text("fn"), *kernel), message, size);
            REQUIRE(out.size() == size);
            if (record.has("out")) {
                CHECK(out == record.bytes("out"));
            } else {
                CHECK(sha256_3(out) == record.bytes("out_sha3_256"));
                const buffer end = record.bytes("out_last32");
                REQUIRE(end.size() == std::min<std::size_t>(size, 32));
                CHECK(std::ranges::equal(bytes_view(out).last(end.size()), end));
                ++by_digest;
            }
        }
    }
    CHECK(by_digest == 34 * runnable(crypto::keccak_kernels()).size());
}

TEST_CASE("libcrypto agrees on random messages and sizes, in any pieces") {
    random_source random;
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        CAPTURE(std::string(kernel->name));
        const auto shake128 = function<crypto::shake128>(*kernel);
        const auto shake256 = function<crypto::shake256>(*kernel);
        for (std::size_t size = 0; size <= 600; ++size) {
            const buffer message = random.bytes(size);
            const std::size_t out = 1 + random.below(1000);
            CHECK(hash_of(shake128, message, out) == oracle_hash("SHAKE128", message, out));
            CHECK(hash_of(shake256, message, out) == oracle_hash("SHAKE256", message, out));
        }
        check_hash_contract(shake128, 168);
        check_hash_contract(shake256, 136);
    }
}

// RustCrypto/hashes #42, aws-lc #1839 and #2155, RUSTSEC-2026-0074, wolfSSL #3896, ironclad #47:
// the same bytes again, a block lost or the end after one block when the output is read in pieces.
TEST_CASE_TEMPLATE("output in any pieces is the output of one call", Shake, crypto::shake128,
                   crypto::shake256) {
    random_source random;
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        CAPTURE(std::string(kernel->name));
        const buffer message = random.bytes(100);
        const buffer right = hash_of(function<Shake>(*kernel), message, 5000);
        for (int round = 0; round < 300; ++round) {
            Shake state(*kernel);
            REQUIRE(state.absorb(message));
            buffer out(right.size());
            std::size_t at = 0;
            for (const std::size_t size : random.partition(out.size())) {
                state.squeeze(crypto::bytes(out).subspan(at, size));
                at += size;
            }
            CHECK(out == right);
        }
    }
}

TEST_CASE("nothing is written behind the output") {
    const buffer right = oracle_hash("SHAKE256", counting(10), 400);
    for (std::size_t size = 0; size <= right.size(); ++size) {
        const guarded_buffer out(size);
        crypto::shake256::hash(counting(10), out.span());
        CHECK(std::ranges::equal(out.span(), bytes_view(right).first(size)));
    }
}

}  // namespace culvert::tests
