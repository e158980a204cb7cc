#include "crypto/kmac.hpp"

namespace culvert::crypto::detail {

keccak_sponge kmac_customise(std::size_t rate, bytes_view s, const keccak_kernel& kernel) noexcept {
    static constexpr std::array<std::uint8_t, 4> name{'K', 'M', 'A', 'C'};
    return sp800_185::customise(rate, name, s, kernel);
}

// bytepad(encode_string(key), rate)
keccak_sponge kmac_begin(const keccak_sponge& customised, bytes_view key) noexcept {
    keccak_sponge sponge(customised);
    sponge.absorb(sp800_185::encoded::left(sponge.rate()).view());
    sp800_185::absorb_string(sponge, key);
    sponge.absorb_zeros_to_block();
    return sponge;
}

}  // namespace culvert::crypto::detail
