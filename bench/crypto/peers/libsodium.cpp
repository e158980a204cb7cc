#include <sodium.h>

#include "bench/crypto/peers/peers.hpp"

namespace culvert::bench {
namespace {

class chacha20poly1305 : public aead {
  public:
    [[nodiscard]] std::string name() const override { return "libsodium"; }
    void seal(work& w, std::size_t size) override {
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(w.out.data(), w.tag, nullptr,
                                                           w.plaintext.data(), size, w.ad,
                                                           work::ad_size, nullptr, w.nonce, w.key);
    }
    bool open(work& w, std::size_t size) override {
        return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
                   w.out.data(), nullptr, w.ciphertext.data(), size, w.tag, w.ad, work::ad_size,
                   w.nonce, w.key) == 0;
    }
};

}  // namespace

library libsodium() {
    require(sodium_init() >= 0, "libsodium does not start");
    library made{"libsodium", sodium_version_string(), {}, {}};
    made.aeads.push_back(std::make_unique<chacha20poly1305>());
    return made;
}

}  // namespace culvert::bench
