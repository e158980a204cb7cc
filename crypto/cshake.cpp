#include "crypto/cshake.hpp"

#include "crypto/sp800_185.hpp"

namespace culvert::crypto::detail {
namespace {

constexpr std::uint8_t shake_suffix = 0x1f;

bool is_shake(bytes_view n, bytes_view s) noexcept {
    return n.empty() && s.empty();
}

keccak_sponge begin(std::size_t rate, bytes_view n, bytes_view s,
                    const keccak_kernel& kernel) noexcept {
    if (is_shake(n, s)) return keccak_sponge(rate, kernel);
    return sp800_185::customise(rate, n, s, kernel);
}

}  // namespace

cshake_xof::cshake_xof(std::size_t rate, bytes_view n, bytes_view s,
                       const keccak_kernel& kernel) noexcept
    : xof(begin(rate, n, s, kernel), is_shake(n, s) ? shake_suffix : sp800_185::suffix) {}

}  // namespace culvert::crypto::detail
