#include "tests/protocol/transcript_records.hpp"

#include "crypto/chacha20.hpp"
#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

std::string record_name(const std::string& direction, std::size_t number) {
    return direction + "_" + std::to_string(number) + "_";
}

std::size_t count_of(const transcript& recorded, const std::string& direction) {
    std::size_t count = 0;
    while (recorded.has(record_name(direction, count) + "header")) ++count;
    return count;
}

octets plaintext_of(transcript& recorded, const std::string& name) {
    if (!recorded.has(name + "plaintext_rule")) return recorded.input(name + "plaintext");
    const std::size_t size = recorded.number(name + "plaintext_len");
    const std::string rule = recorded.text(name + "plaintext_rule");
    if (rule == "zero bytes") return octets(size);
    REQUIRE(rule == "byte i = i mod 251");
    return counting(size);
}

void compare_wire(transcript& recorded, const std::string& name, const octets& wire) {
    recorded.expect(name + "tag", crypto::bytes_view(wire).last<tag_size>());
    if (recorded.has(name + "wire_sha256"))
        recorded.expect_text(name + "wire_sha256", sha256(wire));
    else
        recorded.expect(name + "wire", wire);
}

// What KDF(secret, "", 112, "epoch") gives, in its parts.
struct epoch_material {
    crypto::secret<112> all;

    explicit epoch_material(const traffic_secret& secret) {
        derive(secret.view(), {}, label::epoch, all.writable());
    }
    [[nodiscard]] auto key() const { return all.view().subspan<0, 32>(); }
    [[nodiscard]] auto prefix() const { return all.view().subspan<32, 16>(); }
    [[nodiscard]] auto header_key() const { return all.view().subspan<48, 32>(); }
    [[nodiscard]] auto next() const { return all.view().subspan<80, 32>(); }
};

void compare_epoch(transcript& recorded, const std::string& name, const traffic_secret& secret) {
    recorded.expect(name + "secret", secret.view());
    const epoch_material material(secret);
    recorded.expect(name + "key", material.key());
    recorded.expect(name + "prefix", material.prefix());
    recorded.expect(name + "header_key", material.header_key());
    recorded.expect(name + "next_secret", material.next());

    const epoch_keys keys = epoch_keys::of(secret);
    recorded.expect(name + "subkey", keys.subkey.view());
    recorded.expect(name + "header_key", keys.header_key.view());
    recorded.expect(name + "next_secret", keys.next.view());

    octets masks(128);
    epoch_cipher cipher(secret);
    for (std::size_t i = 0; i < masks.size(); i += header_size, cipher.next_record())
        cipher.mask(crypto::block<header_size>(masks.data() + i, header_size));
    recorded.expect(name + "header_stream", masks);
}

void compare_header(transcript& recorded, const std::string& name) {
    const octets clear = recorded.input(name + "header");
    const auto read = record_header::read(crypto::bytes_view(clear).first<header_size>());
    CHECK_FALSE(read.reserved);
    octets again(header_size);
    read.write(crypto::bytes(again).first<header_size>());
    recorded.expect(name + "header", again);
}

void compare_nonce(transcript& recorded, const std::string& name, const epoch_material& material,
                   std::uint64_t index) {
    octets nonce = copy_of(material.prefix());
    nonce.resize(24);
    crypto::store64_le(nonce.data() + 16, index);
    recorded.expect(name + "nonce", nonce);
}

bool rekeys(const octets& header) {
    return (header[0] & 0x80) != 0;
}

role sender_of(const std::string& direction) {
    return direction == "c2s" ? role::client : role::server;
}
role receiver_of(const std::string& direction) {
    return direction == "c2s" ? role::server : role::client;
}

}  // namespace

void compare_records(transcript& recorded, const std::string& direction) {
    traffic_secret secret = recorded.secret("secret_" + direction);
    forger cipher(secret);
    std::size_t epoch = 0;
    std::uint64_t index = 0;
    octets all;
    const auto epoch_name = [&] { return direction + "_epoch" + std::to_string(epoch) + "_"; };
    compare_epoch(recorded, epoch_name(), secret);
    for (std::size_t i = 0; i < count_of(recorded, direction); ++i) {
        const std::string name = record_name(direction, i);
        recorded.expect_text(name + "epoch", std::to_string(epoch));
        recorded.expect_text(name + "index", std::to_string(index));
        compare_header(recorded, name);
        compare_nonce(recorded, name, epoch_material(secret), index);
        const octets header = recorded.input(name + "header");
        const octets wire = cipher.record(header[0], plaintext_of(recorded, name));
        compare_wire(recorded, name, wire);
        append(all, wire);
        ++index;
        if (!rekeys(header)) continue;
        secret = traffic_secret(epoch_material(secret).next());
        ++epoch;
        index = 0;
        compare_epoch(recorded, epoch_name(), secret);
    }
    recorded.expect_text(direction + "_wire_sha256", sha256(all));
}

void compare_stream(transcript& recorded, const std::string& direction) {
    const traffic_secret secret = recorded.secret("secret_" + direction);
    sealer out(secret, sender_of(direction), {});
    receiver in(secret, receiver_of(direction));
    if (direction == "s2c") in.in.open_sent();
    std::vector<arrival> sent;
    for (std::size_t i = 0; i < count_of(recorded, direction); ++i) {
        const std::string name = record_name(direction, i);
        const octets header = recorded.input(name + "header");
        if (rekeys(header)) out.rekey_with_next();
        const auto type = static_cast<record_type>(header[0] & 0x0f);
        sent.push_back({type, plaintext_of(recorded, name)});
        const octets wire = sealed(out, type, sent.back().payload);
        compare_wire(recorded, name, wire);
        CHECK(in.feed(wire) == error::none);
    }
    CHECK(in.arrived == sent);
    CHECK(out.epoch() == in.in.epoch());
}

}  // namespace culvert::tests
