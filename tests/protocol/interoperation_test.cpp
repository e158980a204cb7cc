// Every record opens with libsodium, and over a million of them no nonce serves twice.
#include <unordered_set>

#include "tests/protocol/observer.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

TEST_CASE("libsodium opens every record of random streams") {
    const auto seed = fresh_seed();
    INFO("seed ", seed);
    seeded_random random(seed);
    for (const auto& who : all_parties()) {
        const session both = shake_hands(who, random);
        for (const auto* secret : {&both.client.c2s, &both.client.s2c}) {
            sealer out(*secret, role::server, {}, {.bytes = 30'000});
            observer sees(*secret);
            for (int i = 0; i < 200; ++i) {
                const octets payload = random.bytes(1 + random.up_to(i % 50 == 0 ? 65'535 : 999));
                const octets wire = sealed(out, record_type::data, payload);
                crypto::bytes_view rest = wire;
                const auto seen = sees.next(rest);
                CHECK(rest.empty());
                CHECK(seen.plaintext == payload);
                CHECK((seen.header[0] & 0x7f) == 0);
            }
            CHECK(out.epoch() > 2);
        }
    }
}

TEST_CASE("at the last records of an epoch") {
    sealer out(traffic(), role::server, {});
    out.skip_to(epoch_cipher::max_records - 1);
    const octets wire = sealed(out, record_type::data, counting(33));
    // By hand: the last block of the header stream, the last nonce.
    crypto::secret<112> material;
    derive(traffic().view(), {}, label::epoch, material.writable());
    octets masks(64);
    octets nonce = copy_of(material.view().subspan(32, 16));
    nonce.insert(nonce.end(), {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0});
    const octets zero_nonce(12);
    crypto_stream_chacha20_ietf_xor_ic(masks.data(), masks.data(), 64, zero_nonce.data(),
                                       0x0fffffff, material.view().data() + 48);
    octets header(wire.begin(), wire.begin() + 4);
    for (std::size_t i = 0; i < 4; ++i) header[i] ^= masks[60 + i];
    CHECK(header == octets{0x80, 33, 0, 0});
    octets plaintext(33);
    CHECK(crypto_aead_xchacha20poly1305_ietf_decrypt(
              plaintext.data(), nullptr, nullptr, wire.data() + 4, wire.size() - 4, header.data(),
              4, nonce.data(), material.view().data()) == 0);
    CHECK(plaintext == counting(33));
}

TEST_CASE("a million records: no pair of key and nonce comes twice") {
    constexpr std::size_t records_each_way = 500'000;
    seeded_random random(1);
    const session both = shake_hands(psk_parties(), random);
    std::unordered_set<std::string> used;
    used.reserve(2 * records_each_way);
    const octets payload(64, 0x11);
    for (const role sends : {role::client, role::server}) {
        const auto& secret = sends == role::client ? both.client.c2s : both.client.s2c;
        sealer out(secret, sends, {}, {.bytes = 20'000});
        observer sees(secret);
        for (std::size_t i = 0; i < records_each_way; ++i) {
            const bool opens = sends == role::client && i == 0;
            const std::size_t size = opens ? 0 : random.up_to(payload.size());
            const octets wire = sealed(out, opens ? record_type::open : record_type::pad,
                                       crypto::bytes_view(payload).first(size));
            crypto::bytes_view rest = wire;
            const auto seen = sees.next(rest);
            // The key is known by direction and epoch; the observer has proved the nonce.
            std::string id(seen.nonce.begin(), seen.nonce.end());
            id += (sends == role::client ? 'c' : 's') + std::to_string(seen.epoch);
            REQUIRE(used.insert(std::move(id)).second);
        }
        CHECK(out.epoch() > 500);
    }
    CHECK(used.size() == 2 * records_each_way);
}

}  // namespace
}  // namespace culvert::tests
