#include "crypto/tuplehash.hpp"

namespace culvert::crypto::detail {

keccak_sponge tuplehash_begin(std::size_t rate, bytes_view s,
                              const keccak_kernel& kernel) noexcept {
    static constexpr std::array<std::uint8_t, 9> name{'T', 'u', 'p', 'l', 'e', 'H', 'a', 's', 'h'};
    return sp800_185::customise(rate, name, s, kernel);
}

}  // namespace culvert::crypto::detail
