// SHA3-224, SHA3-256, SHA3-384 and SHA3-512 (FIPS 202 §6.1).
#pragma once

#include "crypto/keccak.hpp"

namespace culvert::crypto {

template <std::size_t DigestSize>
class sha3 {
  public:
    static constexpr std::size_t digest_size = DigestSize;
    static constexpr std::size_t rate = 200 - 2 * DigestSize;  // bytes

    explicit sha3(const keccak_kernel& kernel = best_keccak_kernel()) noexcept
        : sponge_(rate, kernel) {}

    // The next bytes of the message, in pieces of any size.
    void absorb(bytes_view in) noexcept { sponge_.absorb(in); }

    void finish(block<DigestSize> digest) && noexcept {
        sponge_.pad(0x06);
        sponge_.squeeze(digest);
    }

    static void hash(bytes_view in, block<DigestSize> digest) noexcept {
        sha3 state;
        state.absorb(in);
        static_cast<sha3&&>(state).finish(digest);
    }

  private:
    keccak_sponge sponge_;
};

using sha3_224 = sha3<28>;
using sha3_256 = sha3<32>;
using sha3_384 = sha3<48>;
using sha3_512 = sha3<64>;

}  // namespace culvert::crypto
