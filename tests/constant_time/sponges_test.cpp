// Keccak and what stands on it: nothing that is done depends on a key, a message or a state.
#include <doctest/doctest.h>

#include <utility>

#include "crypto/ascon.hpp"
#include "crypto/bash_f.hpp"
#include "crypto/cshake.hpp"
#include "crypto/keccak_small.hpp"
#include "crypto/kmac.hpp"
#include "crypto/sha3.hpp"
#include "crypto/tuplehash.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {
namespace {

using crypto::keccak_kernel;

// Less than a block, a block and several, in a row.
constexpr std::array<std::size_t, 6> pieces{1, 7, 64, 136, 168, 1000};
constexpr std::size_t message_size = 1376;

const buffer label = text("label");

template <class Sponge>
void absorb(Sponge& sponge, bytes_view message) {
    for (const std::size_t size : pieces) {
        sponge.absorb(message.first(size));
        message = message.subspan(size);
    }
}

template <class Mac>
buffer mac_of(const keccak_kernel& kernel, bytes_view key, bytes_view message) {
    const typename Mac::customised custom(label, kernel);
    Mac mac(custom, key);
    absorb(mac, message);
    Mac stream(mac);
    buffer out(900);
    const crypto::bytes all(out);
    std::move(mac).finish(all.first(100));
    auto output = std::move(stream).xof();
    output.squeeze(all.subspan(100, 33));
    output.squeeze(all.subspan(133, 467));
    Mac::mac_two(custom, {key, message}, all.subspan(600, 32), custom, {key, message.first(9)},
                 all.subspan(632));
    return out;
}

template <class Xof>
buffer output_of(Xof sponge, bytes_view message) {
    absorb(sponge, message);
    buffer out(500);
    sponge.squeeze(crypto::bytes(out).first(10));
    sponge.squeeze(crypto::bytes(out).subspan(10));
    return out;
}

buffer digest_of(const keccak_kernel& kernel, bytes_view message) {
    crypto::sha3_512 hash(kernel);
    absorb(hash, message);
    buffer digest(64);
    std::move(hash).finish(crypto::bytes(digest).first<64>());
    return digest;
}

buffer tuple_of(const keccak_kernel& kernel, bytes_view message) {
    crypto::tuplehash256 hash(label, kernel);
    hash.add(message);
    hash.add(message.first(3));
    buffer out(64);
    std::move(hash).finish(out);
    return out;
}

template <class Words, class Permute>
void check_permutation(Permute permute) {
    Words words{};
    const bytes_view memory(reinterpret_cast<const std::uint8_t*>(words.data()), sizeof words);
    conceal(memory);
    permute(words);
    CHECK(is_secret(memory));
}

}  // namespace

TEST_CASE("KMAC" * doctest::test_suite("constant_time.kmac")) {
    const buffer message = pattern_251(message_size);
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        MESSAGE(std::string(kernel->name));
        for (const std::size_t key_size : sizes{16, 32, 200}) {
            const buffer key = counting(key_size);
            const buffer made = mac_of<crypto::kmac256>(*kernel, concealed(key), message);
            CHECK(is_secret(made));
            CHECK(revealed(made) == mac_of<crypto::kmac256>(*kernel, key, message));
            CHECK(is_secret(mac_of<crypto::kmac128>(*kernel, key, concealed(message))));
        }
    }
}

TEST_CASE("hashes" * doctest::test_suite("constant_time.hashes")) {
    const buffer message = concealed(pattern_251(message_size));
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        MESSAGE(std::string(kernel->name));
        CHECK(is_secret(output_of(crypto::cshake128(label, label, *kernel), message)));
        CHECK(is_secret(output_of(crypto::cshake256({}, {}, *kernel), message)));
        CHECK(is_secret(digest_of(*kernel, message)));
        CHECK(is_secret(tuple_of(*kernel, message)));
    }
}

TEST_CASE("permutations" * doctest::test_suite("constant_time.permutations")) {
    for (const auto* kernel : runnable(crypto::keccak_kernels())) {
        MESSAGE(std::string(kernel->name));
        for (std::size_t states = 1; states <= 9; ++states) {
            std::vector<std::uint64_t> lanes(25 * states);
            const bytes_view memory(reinterpret_cast<const std::uint8_t*>(lanes.data()),
                                    8 * lanes.size());
            conceal(memory);
            kernel->permute_n(lanes.data(), states);
            CHECK(is_secret(memory));
        }
    }
    check_permutation<crypto::keccak_state<std::uint8_t>>([](auto& s) { crypto::keccak_f(s); });
    check_permutation<crypto::keccak_state<std::uint16_t>>([](auto& s) { crypto::keccak_f(s); });
    check_permutation<crypto::keccak_state<std::uint32_t>>([](auto& s) { crypto::keccak_f(s); });
    check_permutation<crypto::keccak_state<std::uint64_t>>([](auto& s) { crypto::keccak_f(s); });
    check_permutation<crypto::ascon_words>([](auto& s) { crypto::ascon_p<12>(s); });
    check_permutation<crypto::bash_words>([](auto& s) { crypto::bash_f(s); });
}

}  // namespace culvert::tests
