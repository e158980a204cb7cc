#include "crypto/keccak.hpp"

#include <algorithm>

namespace culvert::crypto {
namespace {

// The state as bytes, which on a little-endian machine is how the lanes lie in memory.
const std::uint8_t* as_bytes(const keccak_lanes& lanes) noexcept {
    static_assert(std::endian::native == std::endian::little, "swap the bytes of each lane");
    return reinterpret_cast<const std::uint8_t*>(lanes.data());
}

// 0 to 7 bytes as the low ones of a word.
std::uint64_t load_less_than_lane(bytes_view in) noexcept {
    const std::size_t size = in.size();
    const std::uint8_t* from = in.data();
    if (size >= 4) {
        return load32_le(from) | std::uint64_t{load32_le(from + size - 4)} << (8 * (size - 4));
    }
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) word |= std::uint64_t{from[i]} << (8 * i);
    return word;
}

}  // namespace

void keccak_sponge::absorb(bytes_view in) noexcept {
    if (in.size() >= rate_ - position_) in = in.subspan(absorb_to_block(in));
    xor_in(in);
}

// What a block begun lacks, then all whole blocks in one run. Bytes taken.
std::size_t keccak_sponge::absorb_to_block(bytes_view in) noexcept {
    std::size_t taken = 0;
    if (position_ != 0) {
        taken = rate_ - position_;
        xor_in(in.first(taken));
        permute();
    }
    const std::size_t blocks = (in.size() - taken) / rate_;
    if (blocks != 0) kernel_->absorb_blocks(*lanes_, in.data() + taken, rate_, blocks);
    return taken + blocks * rate_;
}

// At most the rest of the block, in whole lanes: a lane written in parts is slow to read back.
void keccak_sponge::xor_in(bytes_view in) noexcept {
    std::uint64_t* lane = lanes_->data() + position_ / 8;
    const std::size_t begun = position_ % 8;
    position_ += in.size();
    if (begun != 0) {
        const std::size_t size = std::min(in.size(), 8 - begun);
        *lane++ ^= load_less_than_lane(in.first(size)) << (8 * begun);
        in = in.subspan(size);
    }
    const std::size_t whole = in.size() / 8;
    for (std::size_t i = 0; i < whole; ++i) lane[i] ^= load64_le(in.data() + 8 * i);
    if (in.size() % 8 != 0) lane[whole] ^= load_less_than_lane(in.subspan(8 * whole));
}

void keccak_sponge::absorb_zeros_to_block() noexcept {
    if (position_ != 0) permute();
}

void keccak_sponge::absorb_zeros_to_block(keccak_sponge& a, keccak_sponge& b) noexcept {
    if (a.position_ != 0 && b.position_ != 0) return permute(a, b);
    a.absorb_zeros_to_block();
    b.absorb_zeros_to_block();
}

void keccak_sponge::pad(std::uint8_t suffix) noexcept {
    xor_in_padding(suffix);
    permute();
}

void keccak_sponge::pad(keccak_sponge& a, keccak_sponge& b, std::uint8_t suffix) noexcept {
    a.xor_in_padding(suffix);
    b.xor_in_padding(suffix);
    permute(a, b);
}

void keccak_sponge::xor_in_padding(std::uint8_t suffix) noexcept {
    (*lanes_)[position_ / 8] ^= std::uint64_t{suffix} << (8 * (position_ % 8));
    (*lanes_)[rate_ / 8 - 1] ^= std::uint64_t{0x80} << 56;
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

void keccak_sponge::permute(keccak_sponge& a, keccak_sponge& b) noexcept {
    wiped<std::array<std::uint64_t, 50>> both;
    for (std::size_t i = 0; i < 25; ++i) {
        (*both)[2 * i] = (*a.lanes_)[i];
        (*both)[2 * i + 1] = (*b.lanes_)[i];
    }
    a.kernel_->permute_n(both->data(), 2);
    for (std::size_t i = 0; i < 25; ++i) {
        (*a.lanes_)[i] = (*both)[2 * i];
        (*b.lanes_)[i] = (*both)[2 * i + 1];
    }
    a.position_ = 0;
    b.position_ = 0;
}

}  // namespace culvert::crypto
