// The encodings and the output forms that the functions of SP 800-185 share.
#pragma once

#include "crypto/xof.hpp"

namespace culvert::crypto {

// What the XOF forms of KMAC and TupleHash give: output of any size, in pieces. Copies are
// independent.
class output_stream {
  public:
    // Ends the message of a function whose output size is not fixed in advance.
    explicit output_stream(keccak_sponge message) noexcept;

    // The next bytes of the output.
    void squeeze(bytes out) noexcept { sponge_.squeeze(out); }

  private:
    keccak_sponge sponge_;
};

namespace sp800_185 {

// The suffix after which a message of cSHAKE ends (§3.3), and so those of all that build on it.
inline constexpr std::uint8_t suffix = 0x04;

// left_encode or right_encode of a 64-bit number (§2.3.1): 2 to 9 bytes.
class encoded {
  public:
    static encoded left(std::uint64_t number) noexcept;
    static encoded right(std::uint64_t number) noexcept;
    [[nodiscard]] bytes_view view() const noexcept { return {bytes_.data(), size_}; }

  private:
    static std::size_t size_of(std::uint64_t number) noexcept;
    void put_big_endian(std::size_t at, std::uint64_t number, std::size_t size) noexcept;

    std::array<std::uint8_t, 9> bytes_{};
    std::size_t size_ = 0;
};

// Absorbs encode_string(string) (§2.3.2). Below 2^61 bytes: the length in bits is a 64-bit number.
void absorb_string(keccak_sponge& sponge, bytes_view string) noexcept;

// The state after bytepad(encode_string(n) ‖ encode_string(s), rate) (§3.3).
keccak_sponge customise(std::size_t rate, bytes_view n, bytes_view s,
                        const keccak_kernel& kernel) noexcept;

// Ends a message whose output has out.size() bytes and fills it (§4.3, §5.3). The size is part of
// the message.
void finish(keccak_sponge& sponge, bytes out) noexcept;

// The same for two messages at once. The outputs do not overlap.
void finish(keccak_sponge& a, keccak_sponge& b, bytes out_a, bytes out_b) noexcept;

}  // namespace sp800_185
}  // namespace culvert::crypto
