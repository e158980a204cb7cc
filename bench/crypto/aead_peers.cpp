#include <gcrypt.h>
#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "bench/crypto/contender.hpp"
extern "C" {
#include <intel-ipsec-mb.h>
}

namespace culvert::bench {
namespace {

int int_size(std::size_t size) {
    return static_cast<int>(size);
}

class openssl : public contender {
  public:
    openssl() : sealing_(EVP_CIPHER_CTX_new()), opening_(EVP_CIPHER_CTX_new()) {
        EVP_EncryptInit_ex(sealing_, EVP_chacha20_poly1305(), nullptr, nullptr, nullptr);
        EVP_DecryptInit_ex(opening_, EVP_chacha20_poly1305(), nullptr, nullptr, nullptr);
    }
    ~openssl() override {
        EVP_CIPHER_CTX_free(sealing_);
        EVP_CIPHER_CTX_free(opening_);
    }
    [[nodiscard]] std::string name() const override { return "openssl"; }
    void seal(work& w, std::size_t size) override {
        int written = 0;
        EVP_EncryptInit_ex(sealing_, nullptr, nullptr, w.key, w.nonce);
        EVP_EncryptUpdate(sealing_, nullptr, &written, w.ad, int_size(work::ad_size));
        EVP_EncryptUpdate(sealing_, w.out.data(), &written, w.plaintext.data(), int_size(size));
        EVP_EncryptFinal_ex(sealing_, w.out.data() + size, &written);
        EVP_CIPHER_CTX_ctrl(sealing_, EVP_CTRL_AEAD_GET_TAG, 16, w.tag);
    }
    bool open(work& w, std::size_t size) override { return open_pieces(w, size, size); }
    [[nodiscard]] bool has_pieces() const override { return true; }
    bool open_pieces(work& w, std::size_t size, std::size_t piece) override {
        int written = 0;
        EVP_DecryptInit_ex(opening_, nullptr, nullptr, w.key, w.nonce);
        EVP_DecryptUpdate(opening_, nullptr, &written, w.ad, int_size(work::ad_size));
        for (std::size_t at = 0; at < size; at += piece) {
            EVP_DecryptUpdate(opening_, w.out.data() + at, &written, w.ciphertext.data() + at,
                              int_size(std::min(piece, size - at)));
        }
        EVP_CIPHER_CTX_ctrl(opening_, EVP_CTRL_AEAD_SET_TAG, 16, w.tag);
        return EVP_DecryptFinal_ex(opening_, w.out.data() + size, &written) == 1;
    }

  private:
    EVP_CIPHER_CTX* sealing_;
    EVP_CIPHER_CTX* opening_;
};

class libsodium : public contender {
  public:
    libsodium() {
        if (sodium_init() < 0) throw std::runtime_error("libsodium does not start");
    }
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

// ipsec-mb by jobs, its fastest way for one message: without the checks of the job.
class ipsec_jobs : public contender {
  public:
    ipsec_jobs() : manager_(alloc_mb_mgr(0)) { init_mb_mgr_auto(manager_, nullptr); }
    ~ipsec_jobs() override { free_mb_mgr(manager_); }
    [[nodiscard]] std::string name() const override { return "ipsec-mb"; }
    void seal(work& w, std::size_t size) override {
        run(w, IMB_DIR_ENCRYPT, IMB_ORDER_CIPHER_HASH, w.plaintext.data(), size, w.tag);
    }
    bool open(work& w, std::size_t size) override {
        std::uint8_t made[16];
        run(w, IMB_DIR_DECRYPT, IMB_ORDER_HASH_CIPHER, w.ciphertext.data(), size, made);
        return std::memcmp(made, w.tag, sizeof made) == 0;
    }

  protected:
    IMB_MGR* manager_;

  private:
    void run(work& w, IMB_CIPHER_DIRECTION direction, IMB_CHAIN_ORDER order,
             const std::uint8_t* from, std::size_t size, std::uint8_t* tag) {
        IMB_JOB* job = IMB_GET_NEXT_JOB(manager_);
        job->cipher_mode = IMB_CIPHER_CHACHA20_POLY1305;
        job->hash_alg = IMB_AUTH_CHACHA20_POLY1305;
        job->cipher_direction = direction;
        job->chain_order = order;
        job->enc_keys = w.key;
        job->dec_keys = w.key;
        job->key_len_in_bytes = 32;
        job->u.CHACHA20_POLY1305.aad = w.ad;
        job->u.CHACHA20_POLY1305.aad_len_in_bytes = work::ad_size;
        job->src = from;
        job->dst = w.out.data();
        job->iv = w.nonce;
        job->iv_len_in_bytes = 12;
        job->cipher_start_src_offset_in_bytes = 0;
        job->hash_start_src_offset_in_bytes = 0;
        job->msg_len_to_cipher_in_bytes = size;
        job->msg_len_to_hash_in_bytes = size;
        job->auth_tag_output = tag;
        job->auth_tag_output_len_in_bytes = 16;
        job = IMB_SUBMIT_JOB_NOCHECK(manager_);
        if (job == nullptr || job->status != IMB_STATUS_COMPLETED) {
            throw std::runtime_error("an ipsec-mb job was not done at once");
        }
    }
};

class ipsec_direct : public ipsec_jobs {
  public:
    [[nodiscard]] std::string name() const override { return "ipsec-mb direct"; }
    void seal(work& w, std::size_t size) override {
        chacha20_poly1305_context_data state;
        IMB_CHACHA20_POLY1305_INIT(manager_, w.key, &state, w.nonce, w.ad, work::ad_size);
        IMB_CHACHA20_POLY1305_ENC_UPDATE(manager_, w.key, &state, w.out.data(), w.plaintext.data(),
                                         size);
        IMB_CHACHA20_POLY1305_ENC_FINALIZE(manager_, &state, w.tag, 16);
    }
    bool open(work& w, std::size_t size) override { return open_pieces(w, size, size); }
    [[nodiscard]] bool has_pieces() const override { return true; }
    bool open_pieces(work& w, std::size_t size, std::size_t piece) override {
        std::uint8_t made[16];
        chacha20_poly1305_context_data state;
        IMB_CHACHA20_POLY1305_INIT(manager_, w.key, &state, w.nonce, w.ad, work::ad_size);
        for (std::size_t at = 0; at < size; at += piece) {
            IMB_CHACHA20_POLY1305_DEC_UPDATE(manager_, w.key, &state, w.out.data() + at,
                                             w.ciphertext.data() + at, std::min(piece, size - at));
        }
        IMB_CHACHA20_POLY1305_DEC_FINALIZE(manager_, &state, made, 16);
        return std::memcmp(made, w.tag, sizeof made) == 0;
    }
};

class libgcrypt : public contender {
  public:
    libgcrypt() {
        gcry_check_version(nullptr);
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
        if (gcry_cipher_open(&handle_, GCRY_CIPHER_CHACHA20, GCRY_CIPHER_MODE_POLY1305, 0) != 0) {
            throw std::runtime_error("libgcrypt has no ChaCha20-Poly1305");
        }
    }
    ~libgcrypt() override { gcry_cipher_close(handle_); }
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

}  // namespace

contenders aead_peers() {
    contenders peers;
    peers.push_back(std::make_unique<ipsec_jobs>());
    peers.push_back(std::make_unique<ipsec_direct>());
    peers.push_back(std::make_unique<openssl>());
    peers.push_back(std::make_unique<libgcrypt>());
    peers.push_back(std::make_unique<libsodium>());
    return peers;
}

}  // namespace culvert::bench
