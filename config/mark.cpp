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

crypto::kmac256 begin(std::string_view what) {
    return {crypto::kmac256::customised(crypto::as_bytes(what)), process_key().view()};
}

key_mark finish(crypto::kmac256 state) {
    key_mark mark{};
    std::move(state).finish(mark);
    return mark;
}

}  // namespace

key_mark mark_of(const credentials& keys) {
    crypto::kmac256 state = begin("culvert key mark");
    absorb(state, keys.psk);
    absorb(state, keys.identity);
    for (const key& psk : keys.psks) state.absorb(psk.view());
    return finish(std::move(state));
}

key_mark mark_of(const key& one) {
    crypto::kmac256 state = begin("culvert mark of one key");
    state.absorb(one.view());
    return finish(std::move(state));
}

}  // namespace culvert::config
