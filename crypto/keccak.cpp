#include "crypto/keccak.hpp"

#include <algorithm>

namespace culvert::crypto {
namespace {

// The state as bytes, which on a little-endian machine is how the lanes lie in memory.
std::uint8_t* as_bytes(keccak_lanes& lanes) noexcept {
    static_assert(std::endian::native == std::endian::little, "swap the bytes of each lane");
    return reinterpret_cast<std::uint8_t*>(lanes.data());
}

}  // namespace

void keccak_sponge::absorb(bytes_view in) noexcept {
    in = in.subspan(fill_block(in));
    const std::size_t blocks = in.size() / rate_;
    kernel_->absorb_blocks(*lanes_, in.data(), rate_, blocks);
    fill_block(in.subspan(blocks * rate_));
}

// Takes what goes to a block begun, or begins one with less than a block. Bytes taken.
std::size_t keccak_sponge::fill_block(bytes_view in) noexcept {
    if (position_ == 0 && in.size() >= rate_) return 0;
    const std::size_t size = std::min(in.size(), rate_ - position_);
    std::uint8_t* to = as_bytes(*lanes_) + position_;
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::uint8_t>(to[i] ^ in[i]);
    position_ += size;
    if (position_ == rate_) permute();
    return size;
}

void keccak_sponge::absorb_zeros_to_block() noexcept {
    if (position_ != 0) permute();
}

void keccak_sponge::pad(std::uint8_t suffix) noexcept {
    std::uint8_t* state = as_bytes(*lanes_);
    state[position_] ^= suffix;
    state[rate_ - 1] ^= 0x80;
    permute();
}

void keccak_sponge::squeeze(bytes out) noexcept {
    while (!out.empty()) {
        if (position_ == rate_) permute();
        const std::size_t size = std::min(out.size(), rate_ - position_);
        std::copy_n(as_bytes(*lanes_) + position_, size, out.begin());
        position_ += size;
        out = out.subspan(size);
    }
}

void keccak_sponge::permute() noexcept {
    kernel_->permute(*lanes_);
    position_ = 0;
}

}  // namespace culvert::crypto
