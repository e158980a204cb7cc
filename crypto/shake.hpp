// SHAKE128 and SHAKE256 (FIPS 202 §6.2).
#pragma once

#include "crypto/xof.hpp"

namespace culvert::crypto {

template <std::size_t Rate>
class shake : public xof {
    static constexpr std::uint8_t suffix = 0x1f;

  public:
    explicit shake(const keccak_kernel& kernel = best_keccak_kernel()) noexcept
        : xof(keccak_sponge(Rate, kernel), suffix) {}

    static void hash(bytes_view x, bytes out) noexcept {
        keccak_sponge sponge(Rate);  // without the copy that reset() would begin with
        sponge.absorb(x);
        sponge.pad(suffix);
        sponge.squeeze(out);
    }
};

using shake128 = shake<xof::rate_128>;
using shake256 = shake<xof::rate_256>;

}  // namespace culvert::crypto
