#include "tests/crypto/hash_cases.hpp"

#include <doctest/doctest.h>
#include <openssl/evp.h>

#include <memory>

namespace culvert::tests {

buffer hash_of(const hash_function& hash, bytes_view message, std::size_t size) {
    return hash([&](const absorb_function& absorb) { absorb(message); }, size);
}

buffer hash_in_pieces(const hash_function& hash, bytes_view message,
                      const std::vector<std::size_t>& sizes, std::size_t size) {
    const auto feed = [&](const absorb_function& absorb) {
        std::size_t at = 0;
        for (const std::size_t piece : sizes) {
            absorb(message.subspan(at, piece));
            at += piece;
        }
    };
    return hash(feed, size);
}

void check_hash(const hash_function& hash, bytes_view message, const buffer& right) {
    CHECK(hash_of(hash, message, right.size()) == right);
    const buffer moved = joined(buffer(1), message);
    CHECK(hash_of(hash, bytes_view(moved).subspan(1), right.size()) == right);
    for (const std::size_t cut : cuts(message.size())) {
        if (hash_in_pieces(hash, message, {cut, message.size() - cut}, right.size()) != right) {
            FAIL("wrong when cut at " << cut);
        }
    }
}

void check_hash_contract(const hash_function& hash, std::size_t rate) {
    random_source random;
    for (std::size_t size = 0; size <= 3 * rate + 1; ++size) {
        const buffer message = random.bytes(size);
        const buffer right = hash_of(hash, message, 32);
        const guarded_buffer guarded{bytes_view(message)};
        if (hash_of(hash, guarded.span(), 32) != right) FAIL("wrong at " << size);
        if (hash_in_pieces(hash, message, random.partition(size), 32) != right)
            FAIL("wrong at " << size);
        if (hash_in_pieces(hash, message, std::vector<std::size_t>(size, 1), 32) != right) {
            FAIL("wrong byte by byte at " << size);
        }
    }
    const buffer message = random.bytes(100000);
    const buffer right = hash_of(hash, message, 32);
    for (int round = 0; round < 50; ++round) {
        CHECK(hash_in_pieces(hash, message, random.partition(message.size()), 32) == right);
    }
    // jrmelsha/keccak #2, turboshake #10, onixlabs-dotnet #82: every cut of 300 bytes, with empty
    // pieces between.
    const bytes_view short_message = bytes_view(message).first(300);
    const buffer short_right = hash_of(hash, short_message, 32);
    for (std::size_t cut = 0; cut <= 300; ++cut) {
        CHECK(hash_in_pieces(hash, short_message, {0, cut, 0, 0, 300 - cut, 0}, 32) == short_right);
    }
}

buffer oracle_hash(const char* name, bytes_view message, std::size_t size) {
    const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm(
        EVP_MD_fetch(nullptr, name, nullptr), EVP_MD_free);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          EVP_MD_CTX_free);
    buffer out(size);
    REQUIRE(EVP_DigestInit_ex2(context.get(), algorithm.get(), nullptr) == 1);
    REQUIRE(EVP_DigestUpdate(context.get(), message.data(), message.size()) == 1);
    if (std::string_view(name).starts_with("SHAKE")) {
        REQUIRE(EVP_DigestFinalXOF(context.get(), out.data(), size) == 1);
    } else {
        REQUIRE(EVP_DigestFinal_ex(context.get(), out.data(), nullptr) == 1);
    }
    return out;
}

}  // namespace culvert::tests
