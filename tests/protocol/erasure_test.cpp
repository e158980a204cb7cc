// Secrets that have done their work are nowhere in the objects that worked with them. Each test
// first finds the secret there, so that it can't pass for want of knowing what to look for.
#include "tests/protocol/transcript.hpp"
#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

bool has(crypto::bytes_view memory, crypto::bytes_view secret) {
    return std::search(memory.begin(), memory.end(), secret.begin(), secret.end()) != memory.end();
}

// In the object itself, or in the locked memory that it points to.
template <class Object>
bool holds(const Object& object, crypto::bytes_view secret) {
    const crypto::bytes_view memory{reinterpret_cast<const std::uint8_t*>(&object), sizeof object};
    if (has(memory, secret)) return true;
    for (std::size_t i = 0; i + sizeof(void*) <= memory.size(); i += alignof(void*)) {
        const void* pointer = nullptr;
        std::memcpy(&pointer, memory.data() + i, sizeof pointer);
        if (has(crypto::locked_memory::slot_at(pointer), secret)) return true;
    }
    return false;
}

// The recorded handshake in psk mode: its secrets are known.
struct recorded_handshake {
    recorded_handshake()
        : server_random{recorded.input("salt_s"), recorded.input("e_s_private")},
          client(client_side, time, 7, client_random),
          server(server_side, cache, 0, server_random) {}

    static server_keys with(const crypto::secret<32>& psk) {
        std::vector<crypto::secret<32>> psks;
        psks.push_back(psk.clone());
        return server_keys::with_psks(psks, {});
    }

    transcript recorded = spoken_cases().front();
    crypto::secret<32> psk = recorded.secret("psk");
    unix_seconds time = crypto::load64_le(recorded.input("time").data());
    client_keys client_side = client_keys::with_psk(psk, {});
    server_keys server_side = with(psk);
    replay_cache cache;
    scripted_random client_random{recorded.input("salt_c"), recorded.input("e_c_private"),
                                  recorded.input("pad_c")};
    scripted_random server_random;
    client_handshake client;
    server_handshake server;
};

TEST_CASE("a client that has split has neither its ephemeral key nor the chain key left") {
    recorded_handshake t;
    const octets ephemeral = t.recorded.input("e_c_private");
    const octets chain = t.recorded.input("ck");
    REQUIRE(holds(t.client, ephemeral));
    t.server.feed(t.client.message1(), t.time);
    t.client.feed(t.server.message2());
    REQUIRE(holds(t.client, chain));
    const auto secrets = std::move(t.client).split();
    CHECK(copy_of(secrets.c2s.view()) == t.recorded.input("secret_c2s"));
    CHECK_FALSE(holds(t.client, ephemeral));
    CHECK_FALSE(holds(t.client, chain));
    CHECK_FALSE(holds(t.client, secrets.c2s.view()));
}

TEST_CASE("a client that has failed has nothing left") {
    recorded_handshake t;
    const octets ephemeral = t.recorded.input("e_c_private");
    const octets chain = t.recorded.input("ck_start");
    REQUIRE(holds(t.client, ephemeral));
    REQUIRE(holds(t.client, chain));
    t.client.feed(octets(80));
    REQUIRE(t.client.failure() == error::bad_box);
    CHECK_FALSE(holds(t.client, ephemeral));
    CHECK_FALSE(holds(t.client, chain));
}

TEST_CASE("a server that has split has no chain key left, and never kept its ephemeral key") {
    recorded_handshake t;
    const octets chain = t.recorded.input("ck");
    t.server.feed(t.client.message1(), t.time);
    REQUIRE(holds(t.server, chain));
    CHECK_FALSE(holds(t.server, t.recorded.input("e_s_private")));
    const auto secrets = std::move(t.server).split();
    CHECK(copy_of(secrets.s2c.view()) == t.recorded.input("secret_s2c"));
    CHECK_FALSE(holds(t.server, chain));
    CHECK_FALSE(holds(t.server, secrets.s2c.view()));
}

TEST_CASE("a server gone silent has no chain key left") {
    const auto who = static_parties();
    seeded_random random(1);
    const client_handshake client(who.client, noon, 0, random);
    replay_cache cache;
    server_handshake server(who.server, cache, 0, random);
    octets message = copy_of(client.message1());
    message.back() ^= 1;
    const octets chain = copy_of(who.server.starts[0].chain().view());
    server.feed(crypto::bytes_view(message).first(gate_size), noon);
    REQUIRE(holds(server, chain));
    server.feed(crypto::bytes_view(message).subspan(gate_size), noon);
    REQUIRE(server.current() == server_handshake::state::silent);
    CHECK_FALSE(holds(server, chain));
}

// What an epoch must not leave behind.
struct epoch_traces {
    epoch_keys keys = epoch_keys::of(traffic());
    octets masks = octets(64);

    epoch_traces() {
        epoch_cipher cipher(traffic());
        for (std::size_t i = 0; i < masks.size(); i += header_size, cipher.next_record())
            cipher.mask(crypto::block<header_size>(masks.data() + i, header_size));
    }
    template <class Object>
    bool all_in(const Object& object) const {
        return holds(object, keys.subkey.view()) && holds(object, keys.header_key.view()) &&
               holds(object, masks);
    }
    template <class Object>
    bool any_in(const Object& object) const {
        return holds(object, keys.subkey.view()) || holds(object, keys.header_key.view()) ||
               holds(object, masks) || holds(object, traffic().view());
    }
};

TEST_CASE("after REKEY a sealer has no key and no mask of the old epoch left") {
    const epoch_traces old;
    sealer out(traffic(), role::server, {});
    sealed(out, record_type::data, octets(10));
    CHECK(old.all_in(out));
    out.rekey_with_next();
    sealed(out, record_type::data, octets(10));
    CHECK_FALSE(old.any_in(out));
}

TEST_CASE("after REKEY an opener has no key and no mask of the old epoch left") {
    const epoch_traces old;
    sealer out(traffic(), role::server, {});
    const octets first = sealed(out, record_type::data, octets(10));
    out.rekey_with_next();
    const octets last = sealed(out, record_type::data, octets(10));
    receiver receives(traffic(), role::client);
    receives.in.open_sent();
    REQUIRE(receives.feed(first) == error::none);
    CHECK(old.all_in(receives.in));
    REQUIRE(receives.feed(last) == error::none);
    CHECK_FALSE(old.any_in(receives.in));
}

TEST_CASE("the constants of a listener hold no psk") {
    const auto who = psk_parties();
    CHECK_FALSE(holds(who.client, secret_of(1).view()));
    CHECK_FALSE(holds(who.server.starts[0], secret_of(1).view()));
}

}  // namespace
}  // namespace culvert::tests
