// What a first flight costs a server that will not answer it: in front of box A's tag no memory and
// no Diffie-Hellman operation (PROTOCOL.md section 5, "cost of the gate").
#include <doctest/doctest.h>
#include <openssl/crypto.h>

#include <cstdlib>
#include <new>

#include "tests/protocol/parties.hpp"

namespace {

std::size_t allocations = 0;          // of this program
std::size_t library_allocations = 0;  // of libcrypto, which does the key agreements

void* library_allocate(std::size_t size, const char*, int) {
    ++library_allocations;
    return std::malloc(size);
}
void* library_resize(void* old, std::size_t size, const char*, int) {
    ++library_allocations;
    return std::realloc(old, size);
}
void library_free(void* old, const char*, int) {
    std::free(old);
}

// Before libcrypto's first allocation: later it refuses.
const int library_counted =
    CRYPTO_set_mem_functions(library_allocate, library_resize, library_free);

}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* const made = std::malloc(size)) return made;
    throw std::bad_alloc();
}
void operator delete(void* old) noexcept {
    std::free(old);
}
void operator delete(void* old, std::size_t) noexcept {
    std::free(old);
}

namespace culvert::tests {
namespace {

using namespace protocol;

struct cost {
    std::size_t ours = 0;
    std::size_t library = 0;
    server_handshake::state reached = server_handshake::state::await_a;
};

cost cost_of(server_handshake& server, crypto::bytes_view flight) {
    allocations = library_allocations = 0;
    server.feed(flight, noon);
    return {allocations, library_allocations, server.current()};
}

// As many psks as there may be, secret_of(1) the last of them.
parties with_sixteen_psks() {
    std::vector<crypto::secret<32>> psks;
    for (std::uint8_t i = max_psks; i >= 1; --i) psks.push_back(secret_of(i));
    return {"sixteen psks", client_keys::with_psk(psks.back(), {}),
            server_keys::with_psks(psks, {})};
}

octets first_message(const parties& between) {
    seeded_random random(7);
    client_handshake client(between.client, noon, 0, random);
    return copy_of(client.message1());
}

}  // namespace

TEST_SUITE("the cost of the gate") {
    TEST_CASE("a wrong first flight allocates nothing and agrees on no key") {
        REQUIRE(library_counted == 1);
        seeded_random random(fresh_seed());
        replay_cache cache;
        for (const parties& between :
             {psk_parties(), with_sixteen_psks(), static_parties(), static_psk_parties()}) {
            CAPTURE(between.name);
            for (const std::size_t size : {0UL, 1UL, 95UL, 96UL, 97UL, 160UL, 2'000UL}) {
                CAPTURE(size);
                const octets flight = random.bytes(size);
                server_handshake server(between.server, cache, 0, random);
                const cost c = cost_of(server, flight);
                CHECK(c.ours == 0);
                CHECK(c.library == 0);
                CHECK((c.reached == server_handshake::state::silent) == (size >= 96));
            }
        }
    }

    TEST_CASE("neither does a first message of yesterday, or one that was answered before") {
        for (const parties& between : {psk_parties(), with_sixteen_psks(), static_psk_parties()}) {
            CAPTURE(between.name);
            const octets message = first_message(between);
            seeded_random random(8);
            replay_cache cache;
            server_handshake first(between.server, cache, 0, random);
            // The counters do count: here there is a key to agree on.
            CHECK(cost_of(first, message).library > 0);
            CHECK(first.current() == server_handshake::state::replied);

            server_handshake again(between.server, cache, 0, random);
            const cost replay = cost_of(again, message);
            CHECK(again.failure() == error::replay);
            CHECK(replay.ours == 0);
            CHECK(replay.library == 0);

            replay_cache empty;
            server_handshake late(between.server, empty, 0, random);
            allocations = library_allocations = 0;
            late.feed(message, noon + 86'400);
            CHECK(late.failure() == error::clock_skew);
            CHECK(allocations + library_allocations == 0);
        }
    }
}

}  // namespace culvert::tests
