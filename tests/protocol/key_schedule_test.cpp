// What is derived for both directions at once is what each direction derives alone.
#include <doctest/doctest.h>

#include "proxy/protocol/handshake.hpp"
#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

bool same(const epoch_keys& a, const epoch_keys& b) {
    return a.subkey == b.subkey && a.header_key == b.header_key && a.next == b.next;
}

}  // namespace

TEST_CASE("the first epochs of both directions") {
    const session_secrets secrets{secret_of(1), secret_of(2)};
    const auto both = secrets.first_epochs();
    CHECK(same(both.c2s, epoch_keys::of(secrets.c2s)));
    CHECK(same(both.s2c, epoch_keys::of(secrets.s2c)));
    CHECK_FALSE(same(both.c2s, both.s2c));
}

TEST_CASE("the secrets of both directions") {
    for (const mode m : {mode::psk, mode::static_keys}) {
        const octets responder(32, 7);
        const auto state = symmetric_state::start(m, nullptr, responder);
        const auto both = state.split();
        traffic_secret c2s, s2c;
        derive(state.chain().view(), state.transcript(), label::c2s, c2s.writable());
        derive(state.chain().view(), state.transcript(), label::s2c, s2c.writable());
        CHECK(both.c2s == c2s);
        CHECK(both.s2c == s2c);
    }
}

}  // namespace culvert::tests
