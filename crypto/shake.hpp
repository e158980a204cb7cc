// SHAKE128 and SHAKE256 (FIPS 202 §6.2).
#pragma once

#include "crypto/xof.hpp"

namespace culvert::crypto {

template <std::size_t Rate>
class shake : public xof {
  public:
    explicit shake(const keccak_kernel& kernel = best_keccak_kernel()) noexcept
        : xof(keccak_sponge(Rate, kernel), 0x1f) {}

    static void hash(bytes_view x, bytes out) noexcept {
        shake state;
        state.absorb(x);
        state.squeeze(out);
    }
};

using shake128 = shake<xof::rate_128>;
using shake256 = shake<xof::rate_256>;

}  // namespace culvert::crypto
