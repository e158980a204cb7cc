#include "crypto/poly1305.hpp"

#include <algorithm>

#include "crypto/kernels/poly1305_arithmetic.hpp"

namespace culvert::crypto {
poly1305::poly1305(block_view<key_size> key, const poly1305_kernel& kernel) noexcept
    : kernel_(&kernel) {
    // RFC 8439 §2.5: the top 4 bits of each 32-bit word of r and the low 2 of all but the first are
    // clear.
    state_->accumulator.r = {load64_le(key.data()) & 0x0ffffffc0fffffff,
                             load64_le(key.data() + 8) & 0x0ffffffc0ffffffc};
    state_->s = {load64_le(key.data() + 16), load64_le(key.data() + 24)};
}

void poly1305::update(bytes_view in) noexcept {
    in = in.subspan(fill_block(in));
    const std::size_t blocks = in.size() / block_size;
    kernel_->mac_blocks(state_->accumulator, in.data(), blocks);
    fill_block(in.subspan(blocks * block_size));
}

// Takes what goes to a block begun, or begins one with less than a block. Bytes taken.
std::size_t poly1305::fill_block(bytes_view in) noexcept {
    state& now = *state_;
    if (now.left_over_size == 0 && in.size() >= block_size) return 0;
    const std::size_t size = std::min(in.size(), block_size - now.left_over_size);
    std::copy_n(in.begin(), size, now.left_over.begin() + now.left_over_size);
    now.left_over_size += size;
    if (now.left_over_size == block_size) {
        kernel_->mac_blocks(now.accumulator, now.left_over.data(), 1);
        now.left_over_size = 0;
    }
    return size;
}

void poly1305::pad_to_block() noexcept {
    static constexpr std::array<std::uint8_t, block_size> zeros{};
    if (state_->left_over_size != 0) {
        fill_block(bytes_view(zeros).subspan(state_->left_over_size));
    }
}

void poly1305::finish(block<tag_size> tag) && noexcept {
    state& now = *state_;
    if (now.left_over_size != 0) {
        std::fill(now.left_over.begin() + now.left_over_size, now.left_over.end(), 0);
        now.left_over[now.left_over_size] = 1;
        detail::add_block(now.accumulator, load64_le(now.left_over.data()),
                          load64_le(now.left_over.data() + 8), 0);
        detail::multiply(now.accumulator);
    }
    detail::reduce(now.accumulator);
    detail::add_block(now.accumulator, now.s[0], now.s[1], 0);
    store64_le(tag.data(), now.accumulator.h[0]);
    store64_le(tag.data() + 8, now.accumulator.h[1]);
}

}  // namespace culvert::crypto
