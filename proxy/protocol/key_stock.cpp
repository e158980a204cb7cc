#include "proxy/protocol/key_stock.hpp"

#include <cassert>
#include <utility>

namespace culvert::protocol {
namespace {

key_pair make_pair(random_source& random) {
    private_key secret;
    random.fill(secret.writable());
    return key_pair_of(std::move(secret));
}

}  // namespace

void key_stock::make_one(random_source& random) {
    assert(!full());
    pairs_.push_back(make_pair(random));
}

key_pair key_stock::take() noexcept {
    assert(!empty());
    key_pair taken = std::move(pairs_.back());  // which wipes the one in the stock
    pairs_.pop_back();
    return taken;
}

key_pair draw_ephemeral(key_stock* stock, random_source& random) {
    if (stock != nullptr && !stock->empty()) return stock->take();
    return make_pair(random);
}

}  // namespace culvert::protocol
