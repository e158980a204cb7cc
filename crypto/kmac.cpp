#include "crypto/kmac.hpp"

namespace culvert::crypto::detail {

keccak_sponge kmac_customise(std::size_t rate, bytes_view s, const keccak_kernel& kernel) noexcept {
    static constexpr std::array<std::uint8_t, 4> name{'K', 'M', 'A', 'C'};
    return sp800_185::customise(rate, name, s, kernel);
}

namespace {

// bytepad(encode_string(key), rate), but for the zeros at its end
void absorb_key(keccak_sponge& sponge, bytes_view key) noexcept {
    sponge.absorb(sp800_185::encoded::left(sponge.rate()).view());
    sp800_185::absorb_string(sponge, key);
}

}  // namespace

keccak_sponge kmac_begin(const keccak_sponge& customised, bytes_view key) noexcept {
    keccak_sponge sponge(customised);
    absorb_key(sponge, key);
    sponge.absorb_zeros_to_block();
    return sponge;
}

void kmac_two(keccak_sponge a, keccak_sponge b, const kmac_input& in_a, const kmac_input& in_b,
              bytes out_a, bytes out_b) noexcept {
    absorb_key(a, in_a.key);
    absorb_key(b, in_b.key);
    keccak_sponge::absorb_zeros_to_block(a, b);
    a.absorb(in_a.message);
    b.absorb(in_b.message);
    sp800_185::finish(a, b, out_a, out_b);
}

}  // namespace culvert::crypto::detail
