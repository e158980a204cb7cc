// What the handshake computes for first flights that get no answer: flood_gate ROUNDS. A line a
// measurement: its name, round, microseconds of CPU for each.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "crypto/random.hpp"
#include "proxy/protocol/client_handshake.hpp"
#include "proxy/protocol/server_handshake.hpp"

namespace {

using namespace culvert::protocol;
using culvert::crypto::secret;
using octets = std::vector<std::uint8_t>;

constexpr int times = 5'000;
constexpr unix_seconds noon = 1'800'000'000;

secret<32> random_secret() {
    secret<32> out;
    culvert::crypto::fill_random(out.writable());
    return out;
}

std::vector<secret<32>> random_secrets(std::size_t count) {
    std::vector<secret<32>> out;
    while (out.size() < count) out.push_back(random_secret());
    return out;
}

double cpu_microseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

template <class Action>
void measure(const char* name, int round, Action&& once) {
    const double began = cpu_microseconds();
    for (int i = 0; i < times; ++i) once();
    std::printf("%s %d %.3f\n", name, round, (cpu_microseconds() - began) / times);
}

// A first flight that is wrong, and another one at each call.
class wrong_flights {
  public:
    wrong_flights(const server_keys& keys, octets flight)
        : keys_(keys), flight_(std::move(flight)) {}

    void operator()() {
        ++flight_[0];  // another salt: nothing is the same as before
        server_handshake server(keys_, cache_, 0);
        server.feed(flight_, noon);
        if (server.current() != server_handshake::state::silent) std::abort();
    }

  private:
    const server_keys& keys_;
    octets flight_;
    replay_cache cache_;
};

octets random_flight() {
    octets flight(200);
    culvert::crypto::fill_random(flight);
    return flight;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
    if (rounds < 1) {
        std::fputs("usage: flood_gate ROUNDS\n", stderr);
        return 2;
    }
    const auto one = server_keys::with_psks(random_secrets(1), {});
    const auto sixteen = server_keys::with_psks(random_secrets(16), {});
    const auto identity = key_pair_of(random_secret());
    const auto theirs = key_pair_of(random_secret());
    const auto open_server = server_keys::with_identity(key_pair_of(identity.secret->clone()),
                                                        [](const public_key&) { return false; });
    const auto unknown_client =
        client_keys::with_identity(key_pair_of(theirs.secret->clone()), identity.shared);
    replay_cache cache;
    transcript_hash h{};

    for (int round = 1; round <= rounds; ++round) {
        measure("keccak", round, [&] { h = hash(h, {}); });
        measure("x25519", round, [&] { static_cast<void>(agree(identity, theirs.shared)); });
        measure("psk", round, wrong_flights(one, random_flight()));
        measure("psks", round, wrong_flights(sixteen, random_flight()));
        measure("static", round, wrong_flights(open_server, random_flight()));
        // A holder of the public key: what the client's own work costs is measured apart.
        measure("client", round, [&] { client_handshake(unknown_client, noon, 0); });
        measure("client+server", round, [&] {
            client_handshake client(unknown_client, noon, 0);
            server_handshake server(open_server, cache, 0);
            server.feed(client.message1(), noon);
            if (server.failure() != error::unknown_client) std::abort();
        });
    }
}
