// cSHAKE128 and cSHAKE256 (SP 800-185 §3).
#pragma once

#include "crypto/xof.hpp"

namespace culvert::crypto {

namespace detail {
class cshake_xof : public xof {
  protected:
    cshake_xof(std::size_t rate, bytes_view n, bytes_view s, const keccak_kernel& kernel) noexcept;
};
}  // namespace detail

// n: the function name, for NIST to define; s: the customisation string; below 2^61 bytes each.
// With both empty it is SHAKE.
template <std::size_t Rate>
class cshake : public detail::cshake_xof {
  public:
    cshake(bytes_view n, bytes_view s, const keccak_kernel& kernel = best_keccak_kernel()) noexcept
        : cshake_xof(Rate, n, s, kernel) {}

    static void hash(bytes_view n, bytes_view s, bytes_view x, bytes out) noexcept {
        cshake state(n, s);
        state.absorb(x);
        state.squeeze(out);
    }
};

using cshake128 = cshake<xof::rate_128>;
using cshake256 = cshake<xof::rate_256>;

}  // namespace culvert::crypto
