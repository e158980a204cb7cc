#include "proxy/relay/key_maker.hpp"

namespace culvert::relay {
namespace {

// A few keys at a time: what has become ready meanwhile waits for some multiplications, not for 16,
// and a stream of handshakes sets no timer for each.
constexpr std::size_t at_once = 4;
constexpr std::chrono::milliseconds between{1};

}  // namespace

protocol::key_stock* key_maker::stock() {
    if (!making_ && stock_.size() + at_once <= protocol::key_stock::most) make_later();
    return &stock_;
}

void key_maker::make_later() {
    making_ = true;
    pause_.expires_after(between);
    pause_.async_wait([this](const carrier::error_code& ec) {
        if (ec) return;
        making_ = false;
        try {
            for (std::size_t i = 0; i < at_once && !stock_.full(); ++i)
                stock_.make_one(protocol::system_random());
        } catch (const std::exception&) {
            return;  // no memory, say: the next handshake tries again
        }
        if (stock_.size() + at_once <= protocol::key_stock::most) make_later();
    });
}

}  // namespace culvert::relay
