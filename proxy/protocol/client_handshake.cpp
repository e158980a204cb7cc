#include "proxy/protocol/client_handshake.hpp"

#include <algorithm>
#include <cassert>

namespace culvert::protocol {

client_keys client_keys::with_psk(const crypto::secret<32>& psk, bytes_view realm) {
    return {symmetric_state::start(mode::psk, &psk, realm), std::nullopt, std::nullopt};
}

client_keys client_keys::with_identity(key_pair identity, const public_key& server,
                                       const crypto::secret<32>* psk) {
    return {symmetric_state::start(mode::static_keys, psk, server), std::move(identity), server};
}

client_handshake::client_handshake(const client_keys& keys, unix_seconds now,
                                   std::uint16_t pad_length, random_source& random,
                                   key_stock* stock)
    : keys_(keys), symmetric_(keys.start.clone()) {
    assert(pad_length <= max_pad);
    if (!write_message1(now, pad_length, random, stock)) fail(error::weak_key);
}

bool client_handshake::write_message1(unix_seconds now, std::uint16_t pad_length,
                                      random_source& random, key_stock* stock) {
    const bytes all = message1_;
    const bytes salt = all.first(salt_size);
    random.fill(salt);
    symmetric_->absorb(salt);

    crypto::secret<32 + hello_size> opening;
    ephemeral_ = draw_ephemeral(stock, random);
    std::copy(ephemeral_.shared.begin(), ephemeral_.shared.end(), opening.writable().begin());
    hello{now, pad_length}.write(opening.writable().last<hello_size>());
    symmetric_->seal(opening.view(), all.subspan(salt_size, box_a_size));

    std::size_t size = gate_size;
    if (keys_.identity) {
        if (!symmetric_->mix(agree(ephemeral_, *keys_.server))) return false;
        symmetric_->seal(keys_.identity->shared, all.subspan(size, box_b_size));
        size += box_b_size;
        if (!symmetric_->mix(agree(*keys_.identity, *keys_.server))) return false;
        symmetric_->seal({}, all.subspan(size, box_c_size));
        size += box_c_size;
    }
    const bytes pad = all.subspan(size, pad_length);
    random.fill(pad);
    symmetric_->absorb(pad);
    message1_size_ = size + pad_length;
    return true;
}

std::size_t client_handshake::feed(bytes_view in) {
    std::size_t used = 0;
    const auto waiting = [&] { return state_ != state::open && state_ != state::failed; };
    while (waiting()) {
        const std::size_t taken = std::min(need_ - have_, in.size() - used);
        std::copy_n(in.data() + used, taken, part_.data() + have_);
        used += taken;
        have_ += taken;
        if (have_ < need_) break;
        step();
    }
    return used;
}

// A whole field is in part_.
void client_handshake::step() {
    error e = error::none;
    switch (state_) {
        case state::await_d:
            e = step_d();
            break;
        case state::await_f:
            e = step_f();
            break;
        case state::await_pad:
            symmetric_->absorb(bytes_view(part_).first(need_));
            state_ = state::open;
            break;
        case state::open:
        case state::failed:
            break;
    }
    have_ = 0;
    if (e != error::none) fail(e);
}

error client_handshake::step_d() {
    const bytes_view field = bytes_view(part_).first(need_);
    symmetric_->absorb(field.first(salt_size));
    public_key theirs;
    if (!symmetric_->open(field.last(box_d_size), theirs)) return error::bad_box;
    if (!symmetric_->mix(agree(ephemeral_, theirs))) return error::weak_key;
    if (keys_.identity && !symmetric_->mix(agree(*keys_.identity, theirs))) return error::weak_key;
    ephemeral_ = {};
    need_ = box_f_size;
    state_ = state::await_f;
    return error::none;
}

error client_handshake::step_f() {
    std::array<std::uint8_t, 16> inside;
    if (!symmetric_->open(bytes_view(part_).first(need_), inside)) return error::bad_box;
    const auto pad_length = read_pad_length(inside);
    if (!pad_length) return error::bad_field;
    need_ = *pad_length;
    state_ = state::await_pad;
    return error::none;
}

void client_handshake::fail(error e) noexcept {
    failure_ = e;
    state_ = state::failed;
    message1_size_ = 0;
    erase();
}

void client_handshake::erase() noexcept {
    symmetric_.reset();
    ephemeral_ = {};
}

session_secrets client_handshake::split() && {
    assert(state_ == state::open && symmetric_);
    auto secrets = symmetric_->split();
    session_secrets out{std::move(secrets.c2s), std::move(secrets.s2c), symmetric_->transcript()};
    erase();
    return out;
}

}  // namespace culvert::protocol
