// The sponge over Keccak-f[1600] (FIPS 202 §4), on which the hashes are built.
#pragma once

#include "crypto/bytes.hpp"
#include "crypto/kernels/keccak.hpp"
#include "crypto/secret.hpp"

namespace culvert::crypto {

// Keccak[c] with a rate of `rate` bytes. Copies are independent; each is wiped when it ends.
class keccak_sponge {
  public:
    // `rate`: a multiple of 8 below 200.
    explicit keccak_sponge(std::size_t rate,
                           const keccak_kernel& kernel = best_keccak_kernel()) noexcept
        : rate_(rate), kernel_(&kernel) {}

    // A move is a copy: an object moved from is never one that hashes something else.
    keccak_sponge(const keccak_sponge&) noexcept = default;
    keccak_sponge& operator=(const keccak_sponge&) noexcept = default;
    ~keccak_sponge() = default;

    // The next bytes of the message, in pieces of any size. Not after pad().
    void absorb(bytes_view in) noexcept;

    // Zero bytes up to a multiple of the rate, as bytepad does (SP 800-185 §2.3.3).
    void absorb_zeros_to_block() noexcept;

    // Ends the message: the bits of the domain and the first 1 of pad10*1 are in `suffix`
    // (FIPS 202 §B.2). Once.
    void pad(std::uint8_t suffix) noexcept;

    // The same for two sponges, with their permutations done at once: hardly dearer than one. Both
    // by the kernel of `a`.
    static void absorb_zeros_to_block(keccak_sponge& a, keccak_sponge& b) noexcept;
    static void pad(keccak_sponge& a, keccak_sponge& b, std::uint8_t suffix) noexcept;

    // The next bytes of the output, in pieces of any size. Only after pad().
    void squeeze(bytes out) noexcept;

    [[nodiscard]] std::size_t rate() const noexcept { return rate_; }

  private:
    std::size_t absorb_to_block(bytes_view in) noexcept;
    void xor_in(bytes_view in) noexcept;
    void xor_in_padding(std::uint8_t suffix) noexcept;
    void permute() noexcept;
    static void permute(keccak_sponge& a, keccak_sponge& b) noexcept;

    wiped<keccak_lanes> lanes_;
    std::size_t rate_;
    std::size_t position_ = 0;  // in the block, below the rate; up to the rate while squeezing
    const keccak_kernel* kernel_;
};

}  // namespace culvert::crypto
