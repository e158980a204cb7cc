#include "crypto/sp800_185.hpp"

#include <bit>

namespace culvert::crypto {

output_stream::output_stream(keccak_sponge message) noexcept : sponge_(message) {
    sponge_.absorb(sp800_185::encoded::right(0).view());
    sponge_.pad(sp800_185::suffix);
}

namespace sp800_185 {

// Bytes of the number without leading zeros; zero takes one byte.
std::size_t encoded::size_of(std::uint64_t number) noexcept {
    return (static_cast<std::size_t>(std::bit_width(number | 1)) + 7) / 8;
}

void encoded::put_big_endian(std::size_t at, std::uint64_t number, std::size_t size) noexcept {
    for (std::size_t i = size; i != 0; --i, number >>= 8) {
        bytes_[at + i - 1] = static_cast<std::uint8_t>(number);
    }
}

encoded encoded::left(std::uint64_t number) noexcept {
    const std::size_t size = size_of(number);
    encoded result;
    result.bytes_[0] = static_cast<std::uint8_t>(size);
    result.put_big_endian(1, number, size);
    result.size_ = size + 1;
    return result;
}

encoded encoded::right(std::uint64_t number) noexcept {
    const std::size_t size = size_of(number);
    encoded result;
    result.put_big_endian(0, number, size);
    result.bytes_[size] = static_cast<std::uint8_t>(size);
    result.size_ = size + 1;
    return result;
}

void absorb_string(keccak_sponge& sponge, bytes_view string) noexcept {
    sponge.absorb(encoded::left(std::uint64_t{string.size()} * 8).view());
    sponge.absorb(string);
}

keccak_sponge customise(std::size_t rate, bytes_view n, bytes_view s,
                        const keccak_kernel& kernel) noexcept {
    keccak_sponge sponge(rate, kernel);
    sponge.absorb(encoded::left(rate).view());
    absorb_string(sponge, n);
    absorb_string(sponge, s);
    sponge.absorb_zeros_to_block();
    return sponge;
}

void finish(keccak_sponge& sponge, bytes out) noexcept {
    sponge.absorb(encoded::right(std::uint64_t{out.size()} * 8).view());
    sponge.pad(suffix);
    sponge.squeeze(out);
}

void finish(keccak_sponge& a, keccak_sponge& b, bytes out_a, bytes out_b) noexcept {
    a.absorb(encoded::right(std::uint64_t{out_a.size()} * 8).view());
    b.absorb(encoded::right(std::uint64_t{out_b.size()} * 8).view());
    keccak_sponge::pad(a, b, suffix);
    a.squeeze(out_a);
    b.squeeze(out_b);
}

}  // namespace sp800_185
}  // namespace culvert::crypto
