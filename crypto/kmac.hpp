// KMAC128, KMAC256 and their XOF forms (SP 800-185 §4).
#pragma once

#include "crypto/sp800_185.hpp"

namespace culvert::crypto {

namespace detail {
keccak_sponge kmac_customise(std::size_t rate, bytes_view s, const keccak_kernel& kernel) noexcept;
keccak_sponge kmac_begin(const keccak_sponge& customised, bytes_view key) noexcept;
}  // namespace detail

// One message under one key. Copies are independent, so a keyed state can be kept.
template <std::size_t Rate>
class kmac {
  public:
    // The state after the customisation string, below 2^61 bytes: a permutation done once for all
    // keys and messages.
    class customised {
      public:
        explicit customised(bytes_view s,
                            const keccak_kernel& kernel = best_keccak_kernel()) noexcept
            : sponge_(detail::kmac_customise(Rate, s, kernel)) {}

      private:
        friend kmac;
        keccak_sponge sponge_;
    };

    // The key has any size below 2^61 bytes.
    kmac(const customised& custom, bytes_view key) noexcept
        : sponge_(detail::kmac_begin(custom.sponge_, key)) {}

    // The next bytes of the message, in pieces of any size.
    void absorb(bytes_view in) noexcept { sponge_.absorb(in); }

    // Fills `out`. Its size is part of the input: another size gives unrelated bytes.
    void finish(bytes out) && noexcept { sp800_185::finish(sponge_, out); }

    // KMACXOF.
    [[nodiscard]] output_stream xof() && noexcept { return output_stream(sponge_); }

    // K, X and S as SP 800-185 has them.
    static void mac(bytes_view k, bytes_view x, bytes_view s, bytes out) noexcept {
        kmac state(customised(s), k);
        state.absorb(x);
        static_cast<kmac&&>(state).finish(out);
    }

  private:
    keccak_sponge sponge_;
};

using kmac128 = kmac<xof::rate_128>;
using kmac256 = kmac<xof::rate_256>;

}  // namespace culvert::crypto
