// SHA3-224, -256, -384 and -512: NIST's records, and libcrypto as a second opinion. Everything runs
// once for each kernel. The records of 1 to 8 GiB are in long_messages_test.cpp.
#include "crypto/sha3.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <utility>

#include "tests/crypto/hash_cases.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

template <std::size_t Size>
hash_function function(const crypto::keccak_kernel& kernel) {
    return [&kernel](const auto& feed, std::size_t size) {
        crypto::sha3<Size> state(kernel);
        feed([&](bytes_view piece) { state.absorb(piece); });
        buffer digest(Size);
        std::move(state).finish(crypto::bytes(digest).first<Size>());
        digest.resize(std::min(size, Size));
        return digest;
    };
}

// Each of 100 checkpoints is the 1000-fold hash of the one before.
void check_chain(const hash_function& hash, const vector_record& record) {
    buffer digest = record.bytes("seed");
    std::istringstream checkpoints(record.text("checkpoints"));
    std::size_t count = 0;
    for (std::string checkpoint; checkpoints >> checkpoint; ++count) {
        for (int i = 0; i < 1000; ++i) digest = hash_of(hash, digest, digest.size());
        REQUIRE(to_hex(digest) == checkpoint);
    }
    CHECK(count == 100);
}

template <std::size_t Size>
void check_records(const char* path, std::size_t messages) {
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        CAPTURE(std::string(kernel->name));
        const hash_function hash = function<Size>(*kernel);
        std::size_t seen = 0, chains = 0, long_ones = 0;
        for (const vector_record& record : read_vectors(path)) {
            const std::string& type = record.text("type");
            if (type == "AFT") {
                check_hash(hash, record.bytes("msg"), record.bytes("md"));
                ++seen;
            } else if (type == "MCT") {
                check_chain(hash, record);
                ++chains;
            } else {
                REQUIRE(type == "LDT");
                ++long_ones;
            }
        }
        CHECK(seen == messages);
        CHECK(chains == 1);
        CHECK(long_ones == 4);
    }
}

template <std::size_t Size>
void check_against_libcrypto(const char* name) {
    random_source random;
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        CAPTURE(std::string(kernel->name));
        const hash_function hash = function<Size>(*kernel);
        for (std::size_t size = 0; size <= 600; ++size) {
            const buffer message = random.bytes(size);
            CHECK(hash_of(hash, message, Size) == oracle_hash(name, message, Size));
        }
        const buffer message = random.bytes(random.below(1000000));
        CHECK(hash_of(hash, message, Size) == oracle_hash(name, message, Size));
        check_hash_contract(hash, crypto::sha3<Size>::rate);
    }
}

}  // namespace

TEST_CASE("NIST's records") {
    check_records<28>("acvp/sha3_224.txt", 149);
    check_records<32>("acvp/sha3_256.txt", 141);
    check_records<48>("acvp/sha3_384.txt", 109);
    check_records<64>("acvp/sha3_512.txt", 77);
}

TEST_CASE("libcrypto agrees on random messages, in any pieces") {
    check_against_libcrypto<28>("SHA3-224");
    check_against_libcrypto<32>("SHA3-256");
    check_against_libcrypto<48>("SHA3-384");
    check_against_libcrypto<64>("SHA3-512");
}

TEST_CASE("the one-shot form is the same") {
    buffer digest(32);
    crypto::sha3_256::hash(counting(100), crypto::bytes(digest).first<32>());
    CHECK(digest == oracle_hash("SHA3-256", counting(100), 32));
}

// MHumm/DEC #100: wrong from 64 KiB on.
TEST_CASE("messages around 64 KiB in one piece") {
    for (const std::size_t size : sizes{65535, 65536, 65537}) {
        const buffer message = pattern_251(size);
        CHECK(hash_of(function<32>(crypto::best_keccak_kernel()), message, 32) ==
              oracle_hash("SHA3-256", message, 32));
    }
}

}  // namespace culvert::tests
