// What SHAKE, cSHAKE, KMACXOF and TupleHashXOF have in common: absorb, then squeeze.
#pragma once

#include "crypto/keccak.hpp"

namespace culvert::crypto {

// An extendable-output function. Copies are independent, so a state after a constant beginning can
// be kept and copied for each message; each copy is wiped when it ends.
class xof {
  public:
    // The next bytes of the message, in pieces of any size. False, with nothing changed, once a
    // byte has been squeezed: the output began without them.
    bool absorb(bytes_view in) noexcept;

    // The next bytes of the output, in pieces of any size. The first byte ends the message.
    void squeeze(bytes out) noexcept;

    // Begins again with the empty message under the same N and S.
    void reset() noexcept;

    static constexpr std::size_t rate_128 = 168;  // bytes, for a security strength of 128 bits
    static constexpr std::size_t rate_256 = 136;

  protected:
    // `begin`: the state before the message; `suffix` as for keccak_sponge::pad.
    xof(const keccak_sponge& begin, std::uint8_t suffix) noexcept
        : begin_(begin), sponge_(begin), suffix_(suffix) {}

  private:
    keccak_sponge begin_;
    keccak_sponge sponge_;
    std::uint8_t suffix_;
    bool squeezing_ = false;
};

}  // namespace culvert::crypto
