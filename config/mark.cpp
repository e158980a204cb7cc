#include "config/mark.hpp"

#include "crypto/kmac.hpp"
#include "crypto/random.hpp"

namespace culvert::config {
namespace {

const key& process_key() {
    static const key drawn = [] {
        key fresh;
        crypto::fill_random(fresh.writable());
        return fresh;
    }();
    return drawn;
}

void absorb(crypto::kmac256& state, const std::optional<key>& part) {
    const std::uint8_t is_there = part ? 1 : 0;
    state.absorb({&is_there, 1});
    if (part) state.absorb(part->view());
}

}  // namespace

key_mark mark_of(const credentials& keys) {
    crypto::kmac256 state(crypto::kmac256::customised(crypto::as_bytes("culvert key mark")),
                          process_key().view());
    absorb(state, keys.psk);
    absorb(state, keys.identity);
    key_mark mark{};
    std::move(state).finish(mark);
    return mark;
}

}  // namespace culvert::config
