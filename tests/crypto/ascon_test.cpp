// Ascon-p: published states, and the hash, the XOF and the AEAD of SP 800-232 over it, in as few
// lines as the vectors need.
#include "crypto/ascon.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::ascon_words;

ascon_words words_of(const std::string& text) {
    std::istringstream in(text);
    ascon_words words;
    for (std::uint64_t& word : words) in >> std::hex >> word;
    REQUIRE(in);
    return words;
}

void permute(ascon_words& words, std::uint64_t rounds) {
    if (rounds == 6) return crypto::ascon_p<6>(words);
    if (rounds == 8) return crypto::ascon_p<8>(words);
    REQUIRE(rounds == 12);
    crypto::ascon_p<12>(words);
}

// The state as bytes: xor one of them.
void xor_byte(ascon_words& state, std::size_t at, std::uint8_t byte) {
    state[at / 8] ^= std::uint64_t{byte} << (8 * (at % 8));
}
std::uint8_t byte_of(const ascon_words& state, std::size_t at) {
    return static_cast<std::uint8_t>(state[at / 8] >> (8 * (at % 8)));
}

// Ascon-Hash256 and Ascon-XOF128 (SP 800-232 §5), at a rate of 8 bytes.
buffer hash(std::uint64_t iv, bytes_view message, std::size_t size) {
    ascon_words state{iv};
    crypto::ascon_p<12>(state);
    for (std::size_t i = 0; i < message.size(); ++i) {
        xor_byte(state, i % 8, message[i]);
        if (i % 8 == 7) crypto::ascon_p<12>(state);
    }
    xor_byte(state, message.size() % 8, 0x01);
    buffer out;
    while (out.size() < size) {
        if (out.size() % 8 == 0) crypto::ascon_p<12>(state);
        out.push_back(byte_of(state, out.size() % 8));
    }
    return out;
}

void check_hash(const char* path, std::uint64_t iv, std::size_t count) {
    const auto records = read_vectors(path);
    CHECK(records.size() == count);
    for (const vector_record& record : records) {
        const buffer md = record.bytes("md");
        CHECK(hash(iv, record.bytes("msg"), md.size()) == md);
    }
}

// Ascon-AEAD128 (SP 800-232 §4): encryption, text ‖ tag, at a rate of 16 bytes.
class aead {
  public:
    aead(bytes_view key, bytes_view nonce) {
        state_[0] = 0x00001000808c0001;
        for (std::size_t i = 0; i < 2; ++i) {
            key_[i] = crypto::load64_le(key.data() + 8 * i);
            state_[1 + i] = key_[i];
            state_[3 + i] = crypto::load64_le(nonce.data() + 8 * i);
        }
        crypto::ascon_p<12>(state_);
        add_key(3);
    }
    buffer seal(bytes_view ad, bytes_view text) && {
        if (!ad.empty()) {
            absorb(ad);
            crypto::ascon_p<8>(state_);
        }
        state_[4] ^= std::uint64_t{1} << 63;
        buffer out = absorb(text);
        add_key(2);
        crypto::ascon_p<12>(state_);
        add_key(3);
        for (std::size_t i = 24; i < 40; ++i) out.push_back(byte_of(state_, i));
        return out;
    }

  private:
    void add_key(std::size_t at) {
        state_[at] ^= key_[0];
        state_[at + 1] ^= key_[1];
    }
    buffer absorb(bytes_view in) {
        buffer out;
        for (std::size_t i = 0; i < in.size(); ++i) {
            xor_byte(state_, i % 16, in[i]);
            out.push_back(byte_of(state_, i % 16));
            if (i % 16 == 15) crypto::ascon_p<8>(state_);
        }
        xor_byte(state_, in.size() % 16, 0x01);
        return out;
    }

    std::array<std::uint64_t, 2> key_{};
    ascon_words state_{};
};

}  // namespace

TEST_CASE("published states before and after 6, 8 and 12 rounds") {
    const auto records = read_vectors("ascon/ascon_p.txt");
    CHECK(records.size() == 3);
    for (const vector_record& record : records) {
        ascon_words words = words_of(record.text("before_words"));
        permute(words, record.number("rounds"));
        CHECK(words == words_of(record.text("after_words")));
    }
}

TEST_CASE("Ascon-Hash256 and Ascon-XOF128") {
    check_hash("ascon/asconhash256.txt", 0x0000080100cc0002, 215);
    check_hash("ascon/asconxof128.txt", 0x0000080000cc0003, 215);
}

TEST_CASE("Ascon-AEAD128") {
    const auto records = read_vectors("ascon/LWC_AEAD_KAT_128_128.txt");
    CHECK(records.size() == 1089);
    for (const vector_record& record : records) {
        aead cipher(record.bytes("Key"), record.bytes("Nonce"));
        CHECK(std::move(cipher).seal(record.bytes("AD"), record.bytes("PT")) == record.bytes("CT"));
    }
}

}  // namespace culvert::tests
