#include "proxy/relay/key_maker.hpp"

namespace culvert::relay {
namespace {

// One key at a time: what has become ready meanwhile waits for one multiplication, not for 16.
constexpr std::chrono::milliseconds between_keys{1};

}  // namespace

protocol::key_stock* key_maker::stock() {
    if (!making_) make_later();
    return &stock_;
}

void key_maker::make_later() {
    making_ = true;
    pause_.expires_after(between_keys);
    pause_.async_wait([this](const carrier::error_code& ec) {
        if (ec) return;
        making_ = false;
        if (stock_.full()) return;
        stock_.make_one(protocol::system_random());
        make_later();
    });
}

}  // namespace culvert::relay
