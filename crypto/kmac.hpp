// KMAC128, KMAC256 and their XOF forms (SP 800-185 §4).
#pragma once

#include "crypto/sp800_185.hpp"

namespace culvert::crypto {

// The key and the message of one MAC.
struct kmac_input {
    bytes_view key;
    bytes_view message;
};

namespace detail {
keccak_sponge kmac_customise(std::size_t rate, bytes_view s, const keccak_kernel& kernel) noexcept;
keccak_sponge kmac_begin(const keccak_sponge& customised, bytes_view key) noexcept;
// By value: each is a copy of a customised state to work in.
void kmac_two(keccak_sponge a, keccak_sponge b, const kmac_input& in_a, const kmac_input& in_b,
              bytes out_a, bytes out_b) noexcept;
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

    // Two MACs that have nothing to do with each other, for hardly more than the price of one: the
    // two permutations that end the keys, and the two that end the messages, are done at once.
    // (What is longer than a block is permuted by itself.) The outputs have any sizes and do not
    // overlap.
    static void mac_two(const customised& custom_a, const kmac_input& in_a, bytes out_a,
                        const customised& custom_b, const kmac_input& in_b, bytes out_b) noexcept {
        detail::kmac_two(custom_a.sponge_, custom_b.sponge_, in_a, in_b, out_a, out_b);
    }

  private:
    keccak_sponge sponge_;
};

using kmac128 = kmac<xof::rate_128>;
using kmac256 = kmac<xof::rate_256>;

}  // namespace culvert::crypto
