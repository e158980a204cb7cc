#include "crypto/chacha20.hpp"

#include <algorithm>

#include "crypto/kernels/chacha20_round.hpp"
#include "crypto/status.hpp"

namespace culvert::crypto {
namespace {

void xor_bytes(bytes_view a, const std::uint8_t* b, bytes out) noexcept {
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = static_cast<std::uint8_t>(a[i] ^ b[i]);
}

}  // namespace

void hchacha20(block_view<32> key, block_view<16> prefix, block<32> out) noexcept {
    wiped<chacha20_words> words;
    detail::set_key(*words, key);
    for (std::size_t i = 0; i < 4; ++i) (*words)[12 + i] = load32_le(prefix.data() + 4 * i);
    detail::twenty_rounds(*words);
    for (std::size_t i = 0; i < 4; ++i) {
        store32_le(out.data() + 4 * i, (*words)[i]);
        store32_le(out.data() + 16 + 4 * i, (*words)[12 + i]);
    }
}

chacha20::chacha20(block_view<key_size> key, block_view<nonce_size> nonce, std::uint32_t counter,
                   const chacha20_kernel& kernel) noexcept
    : kernel_(&kernel) {
    detail::set_key(state_->words, key);
    detail::set_position(state_->words, counter, nonce);
    state_->blocks_left = (std::uint64_t{1} << 32) - counter;
}

std::uint64_t chacha20::remaining() const noexcept {
    return state_->blocks_left * block_size + state_->left_over_size;
}

bool chacha20::xor_stream(bytes_view in, bytes out) noexcept {
    if (in.size() > remaining() || in.size() > out.size()) return false;
    out = out.first(in.size());
    if (overlap_partially(in, out)) return false;

    const std::size_t begun = use_left_over(in, out);
    const std::size_t whole = use_blocks(in.subspan(begun), out.subspan(begun));
    begin_block(in.subspan(begun + whole), out.subspan(begun + whole));
    return true;
}

bool chacha20::keystream(bytes out) noexcept {
    if (out.size() > remaining()) return false;
    std::fill(out.begin(), out.end(), std::uint8_t{0});
    return xor_stream(out, out);
}

std::size_t chacha20::use_left_over(bytes_view in, bytes out) noexcept {
    const std::size_t size = std::min(in.size(), state_->left_over_size);
    const std::uint8_t* stream = state_->left_over.data() + block_size - state_->left_over_size;
    xor_bytes(in.first(size), stream, out);
    state_->left_over_size -= size;
    return size;
}

std::size_t chacha20::use_blocks(bytes_view in, bytes out) noexcept {
    const std::size_t blocks = in.size() / block_size;
    kernel_->xor_blocks(state_->words, in.data(), out.data(), blocks);
    state_->blocks_left -= blocks;
    return blocks * block_size;
}

void chacha20::begin_block(bytes_view in, bytes out) noexcept {
    if (in.empty()) return;
    state_->left_over.fill(0);
    use_blocks(state_->left_over, state_->left_over);
    state_->left_over_size = block_size;
    use_left_over(in, out);
}

}  // namespace culvert::crypto
