#include <algorithm>
#include <cstring>

#include "bench/crypto/peers/peers.hpp"
extern "C" {
#include <intel-ipsec-mb.h>
}

namespace culvert::bench {
namespace {

// By jobs, its fastest way for one message: without the checks of the job.
class jobs : public aead {
  public:
    jobs() : manager_(alloc_mb_mgr(0)) { init_mb_mgr_auto(manager_, nullptr); }
    ~jobs() override { free_mb_mgr(manager_); }
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
        require(job != nullptr && job->status == IMB_STATUS_COMPLETED,
                "an ipsec-mb job was not done at once");
    }
};

class direct : public jobs {
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

}  // namespace

library ipsec_mb() {
    library made{"ipsec-mb", imb_get_version_str(), {}, {}};
    made.aeads.push_back(std::make_unique<jobs>());
    made.aeads.push_back(std::make_unique<direct>());
    return made;
}

}  // namespace culvert::bench
