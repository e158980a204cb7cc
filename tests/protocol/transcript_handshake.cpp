#include "tests/protocol/transcript_handshake.hpp"

#include "crypto/sp800_185.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

parties parties_of(transcript& recorded) {
    std::vector<crypto::secret<32>> psks;
    if (recorded.with_psk()) psks.push_back(recorded.secret("psk"));
    if (!recorded.is_static()) {
        const octets realm = recorded.input("rs");
        return {recorded.name(), client_keys::with_psk(psks[0], realm),
                server_keys::with_psks(psks, realm)};
    }
    auto server = key_pair_of(recorded.secret("s_s_private"));
    auto client = key_pair_of(recorded.secret("s_c_private"));
    const auto known = client.shared;
    auto client_side = client_keys::with_identity(std::move(client), server.shared,
                                                  psks.empty() ? nullptr : &psks[0]);
    return {recorded.name(), std::move(client_side),
            server_keys::with_identity(
                std::move(server), [known](const public_key& key) { return key == known; }, psks)};
}

unix_seconds time_of(transcript& recorded) {
    return crypto::load64_le(recorded.input("time").data());
}

std::uint16_t length_of(const octets& pad) {
    return static_cast<std::uint16_t>(pad.size());
}

void compare_secrets(transcript& recorded, const session_secrets& secrets) {
    recorded.expect("secret_c2s", secrets.c2s.view());
    recorded.expect("secret_s2c", secrets.s2c.view());
    recorded.expect("h", secrets.binding);
}

// The handshake as PROTOCOL.md writes it, one operation a line.
class steps {
  public:
    steps(transcript& recorded, symmetric_state start)
        : recorded_(recorded), state_(std::move(start)) {
        recorded_.expect("h_start", state_.transcript());
        recorded_.expect("ck_start", state_.chain().view());
    }
    void absorb(const std::string& name) {
        state_.absorb(recorded_.input(name));
        recorded_.expect("h_" + name, state_.transcript());
    }
    void box(const std::string& name, const octets& plaintext) {
        compare_box_key(name);
        symmetric_state reader = state_.clone();
        octets sealed(plaintext.size() + tag_size);
        state_.seal(plaintext, sealed);
        recorded_.expect(name, sealed);
        recorded_.expect("h_" + name, state_.transcript());
        compare_opened(name, sealed, reader);
    }
    // `name` is DH_ours_theirs; both ends of the agreement are computed.
    void mix(const std::string& name, const std::string& ours, const std::string& theirs) {
        const auto one = key_pair_of(recorded_.secret(ours + "_private"));
        const auto other = key_pair_of(recorded_.secret(theirs + "_private"));
        recorded_.expect(ours, one.shared);
        recorded_.expect(theirs, other.shared);
        const auto z = agree(one, other.shared);
        CHECK(z == agree(other, one.shared));
        recorded_.expect(name, z.view());
        REQUIRE(state_.mix(z));
        recorded_.expect("ck_" + name, state_.chain().view());
    }
    void end() {
        recorded_.expect("h", state_.transcript());
        recorded_.expect("ck", state_.chain().view());
        const auto secrets = state_.split();
        recorded_.expect("secret_c2s", secrets.c2s.view());
        recorded_.expect("secret_s2c", secrets.s2c.view());
    }

  private:
    void compare_box_key(const std::string& name) {
        crypto::secret<32> key;
        derive(state_.chain().view(), state_.transcript(), label::box, key.writable());
        recorded_.expect(name + "_key", key.view());
    }
    void compare_opened(const std::string& name, const octets& sealed, symmetric_state& reader) {
        octets opened(sealed.size() - tag_size);
        CHECK(reader.open(sealed, opened));
        recorded_.expect(name + "_plaintext", opened);
        CHECK(reader.transcript() == state_.transcript());
    }

    transcript& recorded_;
    symmetric_state state_;
};

symmetric_state start_of(transcript& recorded) {
    const auto psk = recorded.secret("psk");
    const mode spoken = recorded.is_static() ? mode::static_keys : mode::psk;
    return symmetric_state::start(spoken, recorded.with_psk() ? &psk : nullptr,
                                  recorded.input("rs"));
}

octets joined(octets first, const octets& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

octets hello_of(transcript& recorded) {
    octets out(hello_size);
    hello{time_of(recorded), length_of(recorded.input("pad_c"))}.write(
        crypto::bytes(out).first<hello_size>());
    recorded.expect("hello", out);
    return out;
}

octets pad_length_of(transcript& recorded) {
    octets out(16);
    write_pad_length(crypto::bytes(out).first<16>(), length_of(recorded.input("pad_s")));
    return out;
}

void message1_steps(transcript& recorded, steps& state) {
    state.absorb("salt_c");
    state.box("A", joined(recorded.input("e_c"), hello_of(recorded)));
    if (recorded.is_static()) {
        recorded.expect("rs", key_pair_of(recorded.secret("s_s_private")).shared);
        state.mix("DH_e_c_rs", "e_c", "s_s");
        state.box("B", recorded.input("s_c"));
        state.mix("DH_s_c_rs", "s_c", "s_s");
        state.box("C", {});
    }
    state.absorb("pad_c");
}

void message2_steps(transcript& recorded, steps& state) {
    state.absorb("salt_s");
    state.box("D", recorded.input("e_s"));
    state.mix("DH_e_s_e_c", "e_s", "e_c");
    if (recorded.is_static()) state.mix("DH_e_s_s_c", "e_s", "s_c");
    state.box("F", pad_length_of(recorded));
    state.absorb("pad_s");
}

// h before message 1, from the name in the file instead of the one in the code.
void compare_protocol_name(transcript& recorded) {
    octets encoded;
    const std::string name = recorded.text("protocol");
    for (const octets& part : {octets(name.begin(), name.end()), recorded.input("rs")}) {
        const auto length = crypto::sp800_185::encoded::left(part.size() * 8);
        encoded = joined(joined(encoded, copy_of(length.view())), part);
    }
    recorded.expect("h_start", hash(encoded));
}

}  // namespace

void compare_messages(transcript& recorded) {
    const parties who = parties_of(recorded);
    const octets pad_c = recorded.input("pad_c");
    const octets pad_s = recorded.input("pad_s");
    const unix_seconds time = time_of(recorded);
    scripted_random client_random{recorded.input("salt_c"), recorded.input("e_c_private"), pad_c};
    scripted_random server_random{recorded.input("salt_s"), recorded.input("e_s_private"), pad_s};
    replay_cache cache;

    client_handshake client(who.client, time, length_of(pad_c), client_random);
    recorded.expect("message1", client.message1());
    server_handshake server(who.server, cache, length_of(pad_s), server_random);
    CHECK(server.feed(client.message1(), time) == client.message1().size());
    REQUIRE(server.current() == server_handshake::state::replied);
    recorded.expect("message2", server.message2());
    CHECK(client.feed(server.message2()) == server.message2().size());
    REQUIRE(client.current() == client_handshake::state::open);

    CHECK(client_random.used_up());
    CHECK(server_random.used_up());
    compare_secrets(recorded, std::move(client).split());
    compare_secrets(recorded, std::move(server).split());
}

void compare_steps(transcript& recorded) {
    compare_protocol_name(recorded);
    steps state(recorded, start_of(recorded));
    message1_steps(recorded, state);
    message2_steps(recorded, state);
    state.end();
}

}  // namespace culvert::tests
