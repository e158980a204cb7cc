// Reads one direction with libsodium instead of culvert's ciphers: an independent receiver that
// knows the secret and sees the wire.
#pragma once

#include <doctest/doctest.h>
#include <sodium.h>

#include "tests/protocol/wire.hpp"

namespace culvert::tests {

class observer {
  public:
    struct record {
        octets header;  // in clear
        octets plaintext;
        octets nonce;  // the one it was opened with, 24 bytes
        std::size_t epoch;
    };

    explicit observer(const protocol::traffic_secret& secret) { begin_epoch(secret.view()); }

    // Takes the next record off the front of `wire`. Fails the test when libsodium refuses it.
    record next(crypto::bytes_view& wire) {
        record out{header_of(wire), {}, nonce_of(index_), epoch_};
        const std::size_t size = crypto::load32_le(out.header.data()) >> 8;
        const auto sealed = wire.subspan(protocol::header_size, size + protocol::tag_size);
        out.plaintext.resize(size);
        REQUIRE(crypto_aead_xchacha20poly1305_ietf_decrypt(
                    out.plaintext.data(), nullptr, nullptr, sealed.data(), sealed.size(),
                    out.header.data(), out.header.size(), out.nonce.data(), key()) == 0);
        wire = wire.subspan(protocol::header_size + sealed.size());
        ++index_;
        if ((out.header[0] & 0x80) != 0) {
            const protocol::traffic_secret following(material_.view().subspan<80, 32>());
            begin_epoch(following.view());
            ++epoch_;
        }
        return out;
    }

  private:
    void begin_epoch(crypto::block_view<32> secret) {
        protocol::derive(secret, {}, protocol::label::epoch, material_.writable());
        index_ = 0;
    }
    [[nodiscard]] const std::uint8_t* key() const { return material_.view().data(); }
    [[nodiscard]] octets nonce_of(std::uint64_t index) const {
        octets nonce = copy_of(material_.view().subspan(32, 16));
        nonce.resize(24);
        crypto::store64_le(nonce.data() + 16, index);
        return nonce;
    }
    [[nodiscard]] octets header_of(crypto::bytes_view wire) const {
        REQUIRE(wire.size() >= protocol::record_overhead);
        static constexpr std::array<std::uint8_t, 12> zero_nonce{};
        std::array<std::uint8_t, 64> masks{};
        crypto_stream_chacha20_ietf_xor_ic(
            masks.data(), masks.data(), masks.size(), zero_nonce.data(),
            static_cast<std::uint32_t>(index_ / 16), material_.view().data() + 48);
        octets header = copy_of(wire.first(protocol::header_size));
        for (std::size_t i = 0; i < header.size(); ++i) header[i] ^= masks[index_ % 16 * 4 + i];
        return header;
    }

    crypto::secret<112> material_;
    std::uint64_t index_ = 0;
    std::size_t epoch_ = 0;
};

}  // namespace culvert::tests
