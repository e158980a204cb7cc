// A smoke test that no constant or biased byte shows on the wire: over many sessions each bit of
// each position is set about half of the time. It proves no randomness; a field that lost its
// mask or box fails it.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

constexpr std::size_t sessions = 1'000;

class bit_counts {
  public:
    void add(crypto::bytes_view message) {
        if (ones_.empty()) ones_.resize(message.size() * 8);
        REQUIRE(message.size() * 8 == ones_.size());
        for (std::size_t bit = 0; bit < ones_.size(); ++bit)
            ones_[bit] += (message[bit / 8] >> (bit % 8)) & 1U;
    }
    // Seven standard deviations: less than one false alarm in 10^8 runs.
    void check() const {
        const double bound = 7 * std::sqrt(double{sessions}) / 2;
        for (std::size_t bit = 0; bit < ones_.size(); ++bit) {
            INFO("byte ", bit / 8, ", bit ", bit % 8);
            CHECK(std::abs(static_cast<double>(ones_[bit]) - sessions / 2.0) < bound);
        }
    }

  private:
    std::vector<unsigned> ones_;
};

// OPEN, DATA, END of one direction of a fresh session; always the same content.
octets records_of(const traffic_secret& secret, role sends) {
    sealer out(secret, sends, {});
    octets wire;
    if (sends == role::client) append(wire, sealed(out, record_type::open, {}));
    append(wire, sealed(out, record_type::data, octets(40)));
    append(wire, sealed(out, record_type::end, {}));
    return wire;
}

TEST_CASE("messages and records of many sessions look random at each position") {
    const auto seed = fresh_seed();
    INFO("seed ", seed);
    seeded_random random(seed);
    for (const auto& who : all_parties()) {
        INFO(who.name);
        replay_cache cache;
        bit_counts message1;
        bit_counts message2;
        bit_counts up;
        bit_counts down;
        for (std::size_t i = 0; i < sessions; ++i) {
            client_handshake client(who.client, noon, 4, random);
            server_handshake server(who.server, cache, 4, random);
            server.feed(client.message1(), noon);
            message1.add(client.message1());
            message2.add(server.message2());
            const auto secrets = std::move(server).split();
            up.add(records_of(secrets.c2s, role::client));
            down.add(records_of(secrets.s2c, role::server));
        }
        for (const auto* counted : {&message1, &message2, &up, &down}) counted->check();
    }
}

}  // namespace
}  // namespace culvert::tests
