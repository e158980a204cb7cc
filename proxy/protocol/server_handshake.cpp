#include "proxy/protocol/server_handshake.hpp"

#include <algorithm>
#include <cassert>

namespace culvert::protocol {
namespace {

std::vector<symmetric_state> starts_of(mode m, std::span<const crypto::secret<32>> psks,
                                       bytes_view responder) {
    assert(psks.size() <= max_psks);
    std::vector<symmetric_state> starts;
    for (const auto& psk : psks) starts.push_back(symmetric_state::start(m, &psk, responder));
    if (starts.empty()) starts.push_back(symmetric_state::start(m, nullptr, responder));
    return starts;
}

}  // namespace

server_keys server_keys::with_psks(std::span<const crypto::secret<32>> psks, bytes_view realm) {
    assert(!psks.empty());
    server_keys keys;
    keys.starts = starts_of(mode::psk, psks, realm);
    return keys;
}

server_keys server_keys::with_identity(key_pair identity,
                                       std::function<bool(const public_key&)> knows,
                                       std::span<const crypto::secret<32>> psks) {
    server_keys keys;
    keys.starts = starts_of(mode::static_keys, psks, identity.shared);
    keys.identity = std::move(identity);
    keys.knows = std::move(knows);
    return keys;
}

server_handshake::server_handshake(const server_keys& keys, replay_cache& cache,
                                   std::uint16_t pad_length, random_source& random,
                                   key_stock* stock)
    : keys_(keys), cache_(cache), random_(random), stock_(stock), pad_length_(pad_length) {
    assert(pad_length <= max_pad);
}

std::size_t server_handshake::feed(bytes_view in, unix_seconds now) {
    std::size_t used = 0;
    while (state_ != state::replied) {
        if (state_ == state::silent) return in.size();
        const std::size_t taken = std::min(need_ - have_, in.size() - used);
        std::copy_n(in.data() + used, taken, part_.data() + have_);
        used += taken;
        have_ += taken;
        if (have_ < need_) break;
        step(now);
    }
    return used;
}

// A whole field is in part_.
void server_handshake::step(unix_seconds now) {
    error e = error::none;
    switch (state_) {
        case state::await_a:
            e = step_a(now);
            break;
        case state::await_bc:
            e = step_bc();
            break;
        case state::await_pad:
            e = step_pad();
            break;
        case state::replied:
        case state::silent:
            break;
    }
    have_ = 0;
    if (e != error::none) fail(e);
}

error server_handshake::step_a(unix_seconds now) {
    const bytes_view field = bytes_view(part_).first(need_);
    const bytes_view salt = field.first(salt_size);
    std::array<std::uint8_t, 32 + hello_size> inside;
    if (!open_a(salt, field.last(box_a_size), inside)) return error::bad_box;

    const auto from_client = hello::read(block_view<hello_size>(inside.data() + 32, hello_size));
    if (!from_client) return error::bad_field;
    if (const error e = check_time_and_replay(*from_client, salt, now); e != error::none) return e;

    std::copy_n(inside.begin(), client_ephemeral_.size(), client_ephemeral_.begin());
    client_pad_ = from_client->pad_length;
    state_ = keys_.identity ? state::await_bc : state::await_pad;
    need_ = keys_.identity ? box_b_size + box_c_size : client_pad_;
    return error::none;
}

// All psks are tried, whichever fits: the time that an answer takes does not tell whose it was.
bool server_handshake::open_a(bytes_view salt, bytes_view box, bytes plaintext) {
    for (std::size_t i = 0; i < keys_.starts.size(); ++i) {
        std::array<std::uint8_t, 32 + hello_size> inside;
        auto opened = keys_.starts[i].after_opening(salt, box, inside);
        if (!opened) continue;
        symmetric_ = std::move(opened);
        psk_index_ = i;
        std::copy(inside.begin(), inside.end(), plaintext.begin());
    }
    return symmetric_.has_value();
}

error server_handshake::check_time_and_replay(const hello& from_client, bytes_view salt,
                                              unix_seconds now) {
    clock_difference_ = static_cast<std::int64_t>(from_client.time - now);
    unix_seconds expiry = now + 120;
    if (keys_.clock_skew) {
        const auto skew = static_cast<unix_seconds>(keys_.clock_skew->count());
        const unix_seconds apart =
            from_client.time > now ? from_client.time - now : now - from_client.time;
        if (apart > skew) return error::clock_skew;
        expiry = from_client.time + skew;
    }
    switch (cache_.insert(salt.first<16>(), expiry, now)) {
        case replay_cache::verdict::replayed:
            return error::replay;
        case replay_cache::verdict::fresh_with_eviction:
            evicted_ = true;
            break;
        case replay_cache::verdict::fresh:
            break;
    }
    return error::none;
}

// The list is asked last, so that the time taken tells a stranger nothing about it.
error server_handshake::step_bc() {
    const bytes_view field = bytes_view(part_).first(need_);
    public_key theirs;
    if (!symmetric_->mix(agree(*keys_.identity, client_ephemeral_))) return error::weak_key;
    if (!symmetric_->open(field.first(box_b_size), theirs)) return error::bad_box;
    if (!symmetric_->mix(agree(*keys_.identity, theirs))) return error::weak_key;
    if (!symmetric_->open(field.last(box_c_size), {})) return error::bad_box;
    if (!keys_.knows(theirs)) return error::unknown_client;
    client_ = theirs;
    need_ = client_pad_;
    state_ = state::await_pad;
    return error::none;
}

error server_handshake::step_pad() {
    symmetric_->absorb(bytes_view(part_).first(need_));
    if (!write_message2()) return error::weak_key;
    state_ = state::replied;
    return error::none;
}

bool server_handshake::write_message2() {
    const bytes all = message2_;
    const bytes salt = all.first(salt_size);
    random_.fill(salt);
    symmetric_->absorb(salt);

    const key_pair ephemeral = draw_ephemeral(stock_, random_);
    symmetric_->seal(ephemeral.shared, all.subspan(salt_size, box_d_size));
    if (!symmetric_->mix(agree(ephemeral, client_ephemeral_))) return false;
    if (client_ && !symmetric_->mix(agree(ephemeral, *client_))) return false;

    std::array<std::uint8_t, 16> inside;
    write_pad_length(inside, pad_length_);
    symmetric_->seal(inside, all.subspan(salt_size + box_d_size, box_f_size));

    const bytes pad = all.subspan(salt_size + box_d_size + box_f_size, pad_length_);
    random_.fill(pad);
    symmetric_->absorb(pad);
    message2_size_ = max_message2 - max_pad + pad_length_;
    return true;
}

void server_handshake::fail(error e) noexcept {
    failure_ = e;
    state_ = state::silent;
    symmetric_.reset();
    crypto::wipe(message2_);
}

session_secrets server_handshake::split() && {
    assert(state_ == state::replied && symmetric_);
    auto secrets = symmetric_->split();
    session_secrets out{std::move(secrets.c2s), std::move(secrets.s2c), symmetric_->transcript()};
    symmetric_.reset();
    return out;
}

}  // namespace culvert::protocol
