#include <gcrypt.h>

#include <algorithm>
#include <cstring>

#include "bench/crypto/peers/peers.hpp"

namespace culvert::bench {
namespace {

class chacha20poly1305 : public aead {
  public:
    chacha20poly1305() {
        require(gcry_cipher_open(&handle_, GCRY_CIPHER_CHACHA20, GCRY_CIPHER_MODE_POLY1305, 0) == 0,
                "libgcrypt has no ChaCha20-Poly1305");
    }
    ~chacha20poly1305() override { gcry_cipher_close(handle_); }
    [[nodiscard]] std::string name() const override { return "libgcrypt"; }
    void seal(work& w, std::size_t size) override {
        begin(w);
        gcry_cipher_encrypt(handle_, w.out.data(), size, w.plaintext.data(), size);
        gcry_cipher_gettag(handle_, w.tag, sizeof w.tag);
    }
    bool open(work& w, std::size_t size) override { return open_pieces(w, size, size); }
    [[nodiscard]] bool has_pieces() const override { return true; }
    bool open_pieces(work& w, std::size_t size, std::size_t piece) override {
        begin(w);
        for (std::size_t at = 0; at < size; at += piece) {
            const std::size_t now = std::min(piece, size - at);
            gcry_cipher_decrypt(handle_, w.out.data() + at, now, w.ciphertext.data() + at, now);
        }
        return gcry_cipher_checktag(handle_, w.tag, sizeof w.tag) == 0;
    }

  private:
    void begin(const work& w) {
        gcry_cipher_setkey(handle_, w.key, sizeof w.key);
        gcry_cipher_setiv(handle_, w.nonce, sizeof w.nonce);
        gcry_cipher_authenticate(handle_, w.ad, work::ad_size);
    }

    gcry_cipher_hd_t handle_ = nullptr;
};

class digest : public hash {
  public:
    explicit digest(const std::string& name)
        : algorithm_(gcry_md_map_name(name.c_str())), is_xof_(name.starts_with("SHAKE")) {
        require(gcry_md_open(&handle_, algorithm_, 0) == 0, "libgcrypt lacks a hash");
    }
    ~digest() override { gcry_md_close(handle_); }
    void operator()(crypto::bytes_view in, crypto::bytes out) override {
        gcry_md_reset(handle_);
        gcry_md_write(handle_, in.data(), in.size());
        if (is_xof_) {
            gcry_md_extract(handle_, algorithm_, out.data(), out.size());
        } else {
            std::memcpy(out.data(), gcry_md_read(handle_, algorithm_), out.size());
        }
    }

  private:
    int algorithm_;
    bool is_xof_;
    gcry_md_hd_t handle_ = nullptr;
};

}  // namespace

library libgcrypt() {
    const char* version = gcry_check_version(nullptr);
    require(version != nullptr, "libgcrypt does not start");
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    library made{"libgcrypt", version, {}, [](const std::string& algorithm) {
                     return std::make_unique<digest>(algorithm);
                 }};
    made.aeads.push_back(std::make_unique<chacha20poly1305>());
    return made;
}

}  // namespace culvert::bench
