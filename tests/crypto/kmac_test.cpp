// KMAC128, KMAC256 and their XOF forms: published vectors and libcrypto as a second opinion.
// Everything runs once for each kernel.
#include "crypto/kmac.hpp"

#include <doctest/doctest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <memory>
#include <utility>

#include "crypto/secret.hpp"
#include "tests/crypto/hash_cases.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::kmac128;
using crypto::kmac256;

const auto kernels = runnable(crypto::keccak_kernels());

template <class Kmac>
hash_function function(const buffer& key, const buffer& s, bool xof,
                       const crypto::keccak_kernel& kernel) {
    return [&kernel, key, s, xof](const auto& feed, std::size_t size) {
        Kmac state(typename Kmac::customised(s, kernel), key);
        feed([&](bytes_view piece) { state.absorb(piece); });
        buffer out(size);
        if (xof) {
            std::move(state).xof().squeeze(out);
        } else {
            std::move(state).finish(out);
        }
        return out;
    };
}

hash_function function_of(int strength, const buffer& key, const buffer& s, bool xof,
                          const crypto::keccak_kernel& kernel) {
    return strength == 128 ? function<kmac128>(key, s, xof, kernel)
                           : function<kmac256>(key, s, xof, kernel);
}

hash_function function_named(std::string name, const buffer& key, const buffer& s,
                             const crypto::keccak_kernel& kernel) {
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    if (name == "kmac128") return function_of(128, key, s, false, kernel);
    if (name == "kmac256") return function_of(256, key, s, false, kernel);
    if (name == "kmac128xof" || name == "kmacxof128") return function_of(128, key, s, true, kernel);
    REQUIRE((name == "kmac256xof" || name == "kmacxof256"));
    return function_of(256, key, s, true, kernel);
}

void check_records(const char* path, std::size_t count) {
    const auto records = read_vectors(path);
    CHECK(records.size() == count);
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        for (const vector_record& record : records) {
            check_hash(
                function_named(record.text("fn"), record.bytes("key"), record.bytes("s"), *kernel),
                record.bytes("msg"), record.bytes("out"));
        }
    }
}

// Records that say whether their tag is right. The valid ones are also cut everywhere.
void check_tags(const std::vector<vector_record>& records, int strength, std::size_t valid,
                std::size_t invalid) {
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        std::size_t seen_valid = 0, seen_invalid = 0;
        for (const vector_record& record : records) {
            const buffer tag = record.bytes(record.has("tag") ? "tag" : "mac");
            const buffer s = record.has("s") ? record.bytes("s") : buffer();
            const bool xof = record.has("xof") && record.number("xof") == 1;
            const auto hash = function_of(strength, record.bytes("key"), s, xof, *kernel);
            if (record.text("result") == "valid") {
                check_hash(hash, record.bytes("msg"), tag);
                ++seen_valid;
            } else {
                REQUIRE(record.text("result") == "invalid");
                CHECK_FALSE(crypto::equal_constant_time(
                    hash_of(hash, record.bytes("msg"), tag.size()), tag));
                ++seen_invalid;
            }
        }
        CHECK(seen_valid == valid);
        CHECK(seen_invalid == invalid);
    }
}

// By libcrypto.
buffer oracle(const char* name, buffer key, buffer s, const buffer& message, std::size_t size,
              bool xof) {
    const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm(
        EVP_MAC_fetch(nullptr, name, nullptr), EVP_MAC_free);
    const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(
        EVP_MAC_CTX_new(algorithm.get()), EVP_MAC_CTX_free);
    int xof_parameter = xof ? 1 : 0;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_CUSTOM, s.data(), s.size()),
        OSSL_PARAM_construct_int(OSSL_MAC_PARAM_XOF, &xof_parameter),
        OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
        OSSL_PARAM_construct_end(),
    };
    buffer out(size);
    REQUIRE(EVP_MAC_init(context.get(), key.data(), key.size(), parameters) == 1);
    REQUIRE(EVP_MAC_update(context.get(), message.data(), message.size()) == 1);
    REQUIRE(EVP_MAC_final(context.get(), out.data(), nullptr, size) == 1);
    return out;
}

}  // namespace

TEST_CASE("NIST's samples") {
    check_records("sp800-185/kmac_samples.txt", 12);
}

TEST_CASE("generated records with lengths around the rate and the encodings") {
    check_records("sp800-185/kmac_generated.txt", 68);
}

TEST_CASE("Wycheproof") {
    check_tags(read_vectors("wycheproof/kmac128_no_customization.txt"), 128, 66, 108);
    check_tags(read_vectors("wycheproof/kmac256_no_customization.txt"), 256, 99, 162);
}

TEST_CASE("NIST's records of right and wrong tags") {
    check_tags(read_vectors("acvp/kmac128.txt"), 128, 1, 1);
    check_tags(read_vectors("acvp/kmac256.txt"), 256, 0, 1);
}

TEST_CASE("NIST's records of KMAC as a key derivation function") {
    const auto records = read_vectors("acvp/kdf_kmac.txt");
    std::size_t weaker = 0;
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        for (const vector_record& record : records) {
            const bool is_128 = record.text("mac") == "KMAC-128";
            REQUIRE((is_128 || record.text("mac") == "KMAC-256"));
            check_hash(function_of(is_128 ? 128 : 256, record.bytes("key"), record.bytes("label"),
                                   false, *kernel),
                       record.bytes("context"), record.bytes("out"));
            weaker += is_128 ? 1 : 0;
        }
    }
    CHECK(records.size() == 100);
    CHECK(weaker == 50 * kernels.size());
}

TEST_CASE("libcrypto agrees on random keys, customisation strings, messages and sizes") {
    random_source random;
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        for (int round = 0; round < 500; ++round) {
            const buffer key = random.bytes(4 + random.below(300));  // libcrypto's shortest is 4
            const buffer s = random.bytes(random.below(300));
            const buffer message = random.bytes(random.below(2000));
            const std::size_t size = 1 + random.below(500);
            const bool xof = round % 2 == 0;
            CHECK(hash_of(function<kmac128>(key, s, xof, *kernel), message, size) ==
                  oracle("KMAC128", key, s, message, size, xof));
            CHECK(hash_of(function<kmac256>(key, s, xof, *kernel), message, size) ==
                  oracle("KMAC256", key, s, message, size, xof));
        }
    }
}

TEST_CASE("pieces of any size give the tag of the whole") {
    for (const auto* kernel : kernels) {
        for (const bool xof : {false, true}) {
            check_hash_contract(function<kmac128>(counting(32), text("S"), xof, *kernel), 168);
            check_hash_contract(function<kmac256>(counting(32), text("S"), xof, *kernel), 136);
        }
    }
}

TEST_CASE("a kept customisation serves any number of keys, and the one-shot form agrees") {
    const buffer s = text("culvert/1 mix");
    const kmac256::customised custom(s);
    for (const std::size_t size : sizes{32, 112}) {
        for (const std::size_t x_size : sizes{0, 64}) {
            for (std::size_t k = 0; k < 20; ++k) {
                buffer kept(size), once(size);
                kmac256 state(custom, counting(32, k));
                state.absorb(counting(x_size));
                std::move(state).finish(kept);
                kmac256::mac(counting(32, k), counting(x_size), s, once);
                CHECK(kept == once);
                CHECK(kept == oracle("KMAC256", counting(32, k), s, counting(x_size), size, false));
            }
        }
    }
}

TEST_CASE("a keyed state can be kept and copied") {
    const kmac256 keyed(kmac256::customised(text("S")), counting(32));
    for (std::size_t size = 0; size < 50; ++size) {
        kmac256 state = keyed;
        state.absorb(counting(size));
        buffer out(32);
        std::move(state).finish(out);
        CHECK(out == oracle("KMAC256", counting(32), text("S"), counting(size), 32, false));
    }
}

TEST_CASE("two at once are the two one after the other, whatever their sizes") {
    random_source random;
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        for (int round = 0; round < 500; ++round) {
            const std::size_t most = round % 2 == 0 ? 100 : 500;  // libcrypto's longest key is 512
            const buffer s[] = {random.bytes(random.below(30)), random.bytes(random.below(200))};
            const buffer key[] = {random.bytes(4 + random.below(most)),
                                  random.bytes(4 + random.below(most))};
            const buffer message[] = {random.bytes(random.below(most)),
                                      random.bytes(random.below(most))};
            buffer out[] = {buffer(1 + random.below(most)), buffer(1 + random.below(most))};
            kmac256::mac_two(kmac256::customised(s[0], *kernel), {key[0], message[0]}, out[0],
                             kmac256::customised(s[1], *kernel), {key[1], message[1]}, out[1]);
            for (const int i : {0, 1}) {
                CHECK(out[i] == oracle("KMAC256", key[i], s[i], message[i], out[i].size(), false));
            }
        }
    }
}

TEST_CASE("two at once under one customised state, of which neither changes it") {
    const kmac128::customised custom(text("S"));
    for (int round = 0; round < 2; ++round) {
        buffer a(32), b(168 + 1);
        kmac128::mac_two(custom, {counting(16), counting(168)}, a, custom, {counting(32), {}}, b);
        CHECK(a == oracle("KMAC128", counting(16), text("S"), counting(168), 32, false));
        CHECK(b == oracle("KMAC128", counting(32), text("S"), {}, 169, false));
    }
}

TEST_CASE("the size of the output is part of the input, but not of the XOF's") {
    const auto fixed = function<kmac256>(counting(32), {}, false, *kernels.back());
    const auto xof = function<kmac256>(counting(32), {}, true, *kernels.back());
    buffer longer = hash_of(fixed, counting(10), 33);
    longer.pop_back();
    CHECK(longer != hash_of(fixed, counting(10), 32));
    buffer longer_xof = hash_of(xof, counting(10), 33);
    longer_xof.pop_back();
    CHECK(longer_xof == hash_of(xof, counting(10), 32));
}

TEST_CASE("the XOF's output in any pieces is the output of one call") {
    random_source random;
    const buffer right =
        hash_of(function<kmac256>(counting(32), {}, true, *kernels.back()), {}, 3000);
    for (int round = 0; round < 100; ++round) {
        auto stream = kmac256(kmac256::customised({}), counting(32)).xof();
        buffer out(right.size());
        std::size_t at = 0;
        for (const std::size_t size : random.partition(out.size())) {
            stream.squeeze(crypto::bytes(out).subspan(at, size));
            at += size;
        }
        CHECK(out == right);
    }
}

}  // namespace culvert::tests
