// TupleHash128, TupleHash256 and their XOF forms (SP 800-185 §5): hashes of a sequence of strings
// in which it shows where each string ends.
#pragma once

#include "crypto/sp800_185.hpp"

namespace culvert::crypto {

namespace detail {
keccak_sponge tuplehash_begin(std::size_t rate, bytes_view s, const keccak_kernel& kernel) noexcept;
}  // namespace detail

template <std::size_t Rate>
class tuplehash {
  public:
    // s: the customisation string, below 2^61 bytes.
    explicit tuplehash(bytes_view s, const keccak_kernel& kernel = best_keccak_kernel()) noexcept
        : sponge_(detail::tuplehash_begin(Rate, s, kernel)) {}

    // The next element, whole, below 2^61 bytes.
    void add(bytes_view element) noexcept { sp800_185::absorb_string(sponge_, element); }

    // Fills `out`. Its size is part of the input: another size gives unrelated bytes.
    void finish(bytes out) && noexcept { sp800_185::finish(sponge_, out); }

    // TupleHashXOF.
    [[nodiscard]] output_stream xof() && noexcept { return output_stream(sponge_); }

  private:
    keccak_sponge sponge_;
};

using tuplehash128 = tuplehash<xof::rate_128>;
using tuplehash256 = tuplehash<xof::rate_256>;

}  // namespace culvert::crypto
