#include "proxy/protocol/key_schedule.hpp"

#include <cassert>
#include <string>

#include "crypto/chacha20.hpp"
#include "crypto/cshake.hpp"
#include "crypto/kmac.hpp"
#include "crypto/sp800_185.hpp"
#include "crypto/xchacha20poly1305.hpp"

namespace culvert::protocol {
namespace {

namespace aead = crypto::xchacha20poly1305;

std::string_view name_of(mode m) noexcept {
    return m == mode::psk ? "culvert/1 psk 25519" : "culvert/1 static 25519";
}

crypto::kmac256::customised customised(std::string_view name) {
    return crypto::kmac256::customised(crypto::as_bytes("culvert/1 " + std::string(name)));
}

// The states after each label, made once: a KDF call begins behind them.
const crypto::kmac256::customised& customised(label l) {
    static const std::array<crypto::kmac256::customised, 6> states{
        customised("init"), customised("mix"), customised("box"),
        customised("c2s"),  customised("s2c"), customised("epoch")};
    return states[static_cast<std::size_t>(l)];
}

crypto::cshake256 begin_hash() {
    static const crypto::cshake256 state({}, crypto::as_bytes("culvert/1 hash"));
    return state;
}

// es(): the length in bits, left-encoded, then the bytes. Both strings of h are far below 2^61.
void absorb_string(crypto::cshake256& state, bytes_view string) {
    state.absorb(crypto::sp800_185::encoded::left(string.size() * 8).view());
    state.absorb(string);
}

transcript_hash start_hash(mode m, bytes_view responder) {
    auto state = begin_hash();
    absorb_string(state, crypto::as_bytes(name_of(m)));
    absorb_string(state, responder);
    transcript_hash out;
    state.squeeze(out);
    return out;
}

}  // namespace

transcript_hash hash(bytes_view first, bytes_view second) {
    auto state = begin_hash();
    state.absorb(first);
    state.absorb(second);
    transcript_hash out;
    state.squeeze(out);
    return out;
}

void derive(block_view<32> key, bytes_view input, label l, bytes out) {
    crypto::kmac256 state(customised(l), key);
    state.absorb(input);
    std::move(state).finish(out);
}

symmetric_state symmetric_state::start(mode m, const crypto::secret<32>* psk,
                                       bytes_view responder) {
    const crypto::secret<32> none;
    const transcript_hash h = start_hash(m, responder);
    chain_key ck;
    derive((psk != nullptr ? *psk : none).view(), h, label::init, ck.writable());
    return {h, std::move(ck)};
}

void symmetric_state::absorb(bytes_view data) {
    hash_ = hash(hash_, data);
}

bool symmetric_state::mix(const shared_secret& z) {
    if (z.is_zero()) return false;
    chain_key next;
    derive(chain_->view(), z.view(), label::mix, next.writable());
    *chain_ = std::move(next);
    return true;
}

crypto::secret<32> symmetric_state::box_key(const transcript_hash& h) const {
    crypto::secret<32> key;
    derive(chain_->view(), h, label::box, key.writable());
    return key;
}

void symmetric_state::seal(bytes_view plaintext, bytes box) {
    assert(box.size() == plaintext.size() + tag_size);
    static constexpr std::array<std::uint8_t, aead::nonce_size> zero_nonce{};
    [[maybe_unused]] const bool sealed =
        aead::seal(box_key(hash_).view(), zero_nonce, {}, plaintext, box.first(plaintext.size()),
                   box.last<tag_size>());
    assert(sealed);
    absorb(box);
}

bool symmetric_state::open(bytes_view box, bytes plaintext) {
    if (!open_at(hash_, box, plaintext)) return false;
    absorb(box);
    return true;
}

std::optional<symmetric_state> symmetric_state::after_opening(bytes_view salt, bytes_view box,
                                                              bytes plaintext) const {
    const transcript_hash h = hash(hash_, salt);
    if (!open_at(h, box, plaintext)) return std::nullopt;
    return symmetric_state(hash(h, box), chain_->clone());
}

bool symmetric_state::open_at(const transcript_hash& h, bytes_view box, bytes plaintext) const {
    assert(box.size() == plaintext.size() + tag_size);
    static constexpr std::array<std::uint8_t, aead::nonce_size> zero_nonce{};
    return aead::open(box_key(h).view(), zero_nonce, {}, box.first(plaintext.size()),
                      box.last<tag_size>(), plaintext);
}

both_directions<traffic_secret> symmetric_state::split() const {
    both_directions<traffic_secret> out;
    const crypto::kmac_input input{chain_->view(), hash_};
    crypto::kmac256::mac_two(customised(label::c2s), input, out.c2s.writable(),
                             customised(label::s2c), input, out.s2c.writable());
    return out;
}

epoch_keys epoch_keys::of(const traffic_secret& secret) {
    crypto::secret<112> material;
    derive(secret.view(), {}, label::epoch, material.writable());
    return from(material);
}

both_directions<epoch_keys> epoch_keys::of(const traffic_secret& c2s, const traffic_secret& s2c) {
    crypto::secret<112> material_c2s, material_s2c;
    crypto::kmac256::mac_two(customised(label::epoch), {c2s.view(), {}}, material_c2s.writable(),
                             customised(label::epoch), {s2c.view(), {}}, material_s2c.writable());
    return {from(material_c2s), from(material_s2c)};
}

epoch_keys epoch_keys::from(const crypto::secret<112>& material) {
    const auto all = material.view();
    epoch_keys out;
    crypto::hchacha20(all.subspan<0, 32>(), all.subspan<32, 16>(), out.subkey.writable());
    out.header_key = crypto::secret<32>(all.subspan<48, 32>());
    out.next = traffic_secret(all.subspan<80, 32>());
    return out;
}

}  // namespace culvert::protocol
