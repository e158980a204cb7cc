#include "crypto/chacha20poly1305.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "crypto/kernels/poly1305_arithmetic.hpp"

namespace culvert::crypto::chacha20poly1305 {
namespace {

// What a message that comes in small pieces begins with: with block 0 it is as long as a wide
// kernel needs for one block.
constexpr std::size_t first_blocks = 15;

constexpr std::size_t run_macs = aead_run / 16;

// Blocks for `size` bytes, a run at most.
std::size_t blocks_of(std::size_t size) noexcept {
    return size < aead_run ? (size + 63) / 64 : aead_run_blocks;
}

// 0 … 16 bytes as two words, with zeros behind. Whole words, here and below, because what has been
// written in one piece can be read back in smaller ones at once, but not the other way round.
std::array<std::uint64_t, 2> padded(bytes_view in) noexcept {
    const std::uint8_t* from = in.data();
    const std::size_t size = in.size();
    if (size > 8) return {load64_le(from), load64_le(from + size - 8) >> (128 - 8 * size)};
    if (size == 8) return {load64_le(from), 0};
    if (size >= 4) {
        const std::uint64_t last = load32_le(from + size - 4);
        return {load32_le(from) | last << (8 * size - 32), 0};
    }
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) word |= std::uint64_t{from[i]} << (8 * i);
    return {word, 0};
}

// Makes all but the first `kept` ≤ 15 of 16 bytes zero.
void clear_end(std::uint8_t* block, std::size_t kept) noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << (8 * (kept % 8))) - 1;
    store64_le(block, load64_le(block) & (kept < 8 ? mask : ~std::uint64_t{0}));
    store64_le(block + 8, load64_le(block + 8) & (kept < 8 ? 0 : mask));
}

}  // namespace

message::message(key_view key, nonce_view nonce, const aead_kernel& kernel) noexcept
    : kernel_(&kernel) {
    work_.ad_size = work_.text_size = 0;
    work_.used = work_.end = work_.touched = work_.ad_used = 0;
    work_.mac_from = work_.open_to = text_at;
    work_.live = true;
    work_.begun = false;
    work_.kernel.powers.made = poly1305_powers::extent::none;
    detail::set_key(work_.kernel.cipher, key);
    detail::set_position(work_.kernel.cipher, 0, nonce);
}

message& message::operator=(message&& other) noexcept {
    if (this != &other) {
        clear();
        take(other);
    }
    return *this;
}

void message::take(message& other) noexcept {
    std::memcpy(&work_, &other.work_, sizeof work_);
    kernel_ = other.kernel_;
    std::memcpy(stream_.data(), other.stream_.data(), work_.touched);
    other.clear();
}

// All zero is an object that was moved from.
void message::clear() noexcept {
    if (work_.touched != 0) {
        std::memset(stream_.data(), 0, text_at);
        if (work_.open_to < work_.touched) {
            wipe(bytes(stream_).first(work_.touched).subspan(work_.open_to));
        }
    }
    if (work_.kernel.powers.made != poly1305_powers::extent::none) work_.kernel.powers = {};
    std::memset(&work_, 0, offsetof(work, kernel.powers.words));
    // The compiler must believe that somebody looks at it.
    __asm__ volatile("" : : "r"(&work_), "r"(stream_.data()) : "memory");
}

// Block 0 of the key stream is the one-time key (RFC 8439 §2.6); its second half is not used. The
// top 4 bits of each 32-bit word of r and the low 2 of all but the first are clear (§2.5).
void message::begin(std::size_t blocks) noexcept {
    const std::size_t written = kernel_->keystream(work_.kernel.cipher, stream_.data(), 1 + blocks);
    work_.kernel.mac.r = {load64_le(stream_.data()) & 0x0ffffffc0fffffff,
                          load64_le(stream_.data() + 8) & 0x0ffffffc0ffffffc};
    work_.kernel.mac.h = {};
    work_.s = {load64_le(stream_.data() + 16), load64_le(stream_.data() + 24)};
    work_.begun = true;
    work_.end = 64 * blocks;
    work_.touched = 64 * written;
}

status message::add_ad(bytes_view ad) noexcept {
    if (!work_.live || work_.text_size != 0) return status::late_ad;
    put_ad(ad);
    work_.ad_size += ad.size();
    return status::ok;
}

// Up to one block stays behind, to be authenticated together with the text.
void message::put_ad(bytes_view ad) noexcept {
    std::uint8_t* kept = work_.ad.data();
    if (work_.ad_used != 0) {
        const std::size_t size = std::min(ad.size(), work_.ad.size() - work_.ad_used);
        std::copy_n(ad.data(), size, kept + work_.ad_used);
        work_.ad_used += size;
        ad = ad.subspan(size);
        if (ad.empty()) return;
        if (!work_.begun) begin(first_blocks);
        kernel_->authenticate(work_.kernel, kept, 1);
    }
    if (ad.size() > 16) {
        if (!work_.begun) begin(first_blocks);
        const std::size_t blocks = (ad.size() - 1) / 16;
        kernel_->authenticate(work_.kernel, ad.data(), blocks);
        ad = ad.subspan(16 * blocks);
    }
    const auto words = padded(ad);
    store64_le(kept, words[0]);
    store64_le(kept + 8, words[1]);
    work_.ad_used = ad.size();
}

status message::admit(bytes_view in, bytes_view out) const noexcept {
    if (in.size() > remaining()) return status::data_limit;
    if (in.size() > out.size()) return status::short_output;
    if (overlap_partially(in, out.first(in.size()))) return status::overlap;
    return status::ok;
}

// Ends the additional data.
void message::begin_text(std::size_t blocks) noexcept {
    if (!work_.begun) begin(blocks);
    if (work_.ad_used == 0) return;
    std::uint8_t* end = stream_.data() + text_at;
    store64_le(end - 16, load64_le(work_.ad.data()));
    store64_le(end - 8, load64_le(work_.ad.data() + 8));
    work_.mac_from = text_at - 16;
}

void message::authenticate_used() noexcept {
    const std::size_t size = text_at + work_.used - work_.mac_from;
    kernel_->authenticate(work_.kernel, stream_.data() + work_.mac_from, size / 16);
    work_.mac_from = text_at;
    work_.used = work_.end = 0;
}

// The run at `pending`, if any, is authenticated on the way.
void message::make_stream(const std::uint8_t* pending, std::size_t blocks) noexcept {
    std::uint8_t* stream = stream_.data() + text_at;
    if (pending != nullptr && 2 * blocks > aead_run_blocks) {
        kernel_->renew(work_.kernel, pending, stream);
        blocks = aead_run_blocks;
    } else {
        if (pending != nullptr) kernel_->authenticate(work_.kernel, pending, run_macs);
        if (blocks != 0) kernel_->keystream(work_.kernel.cipher, stream, blocks);
    }
    work_.mac_from = text_at;
    work_.used = 0;
    work_.end = 64 * blocks;
    if (blocks != 0) work_.touched = room;
}

// When the key stream is used up: takes whole runs of the text at once, then makes key stream for
// the rest, if any. Bytes taken.
template <message::direction Direction, message::extent Extent>
std::size_t message::go_on(bytes_view in, std::uint8_t* out) noexcept {
    constexpr bool whole = Extent == extent::whole;
    // A single run of a longer message goes through `stream`, where the next one finds it.
    const std::size_t runs = in.size() >= (whole ? 1 : 2) * aead_run ? in.size() / aead_run : 0;
    const std::uint8_t* pending = stream_.data() + text_at;
    if (work_.used == aead_run && work_.mac_from != text_at) {
        kernel_->authenticate(work_.kernel, pending - 16, 1);
        work_.mac_from = text_at;
    }
    if (work_.used == aead_run) work_.touched = text_at;  // all of it is ciphertext now
    if (work_.used != aead_run || (runs != 0 && Direction == direction::open)) {
        authenticate_used();
        pending = nullptr;
    }
    if (runs != 0) {
        if constexpr (Direction == direction::seal) {
            kernel_->seal_runs(work_.kernel, pending, in.data(), out, runs);
            pending = out + (runs - 1) * aead_run;
        } else {
            kernel_->open_runs(work_.kernel, in.data(), out, runs);
        }
    }
    const std::size_t left = in.size() - runs * aead_run;
    make_stream(pending, left == 0 ? 0 : whole ? blocks_of(left) : aead_run_blocks);
    return runs * aead_run;
}

template <message::direction Direction, message::extent Extent>
void message::process(bytes_view in, std::uint8_t* out) noexcept {
    if (in.empty()) return;
    if (work_.text_size == 0) {
        const bool few = in.size() < 64 * first_blocks;
        begin_text(Extent == extent::whole ? blocks_of(in.size())
                   : few                   ? first_blocks
                                           : aead_run_blocks);
    }
    work_.text_size += in.size();
    const auto piece = Direction == direction::seal ? kernel_->seal_piece : kernel_->open_piece;
    for (;;) {
        const std::size_t size = std::min(in.size(), work_.end - work_.used);
        piece(stream_.data() + text_at + work_.used, in.data(), out, size);
        work_.used += size;
        in = in.subspan(size);
        out += size;
        if (in.empty()) return;
        const std::size_t taken = go_on<Direction, Extent>(in, out);
        in = in.subspan(taken);
        out += taken;
    }
}

void message::open_piece(bytes_view in, std::uint8_t* out) noexcept {
    process<direction::open, extent::piece>(in, out);
}

bool message::compute_tag(block<tag_size> tag) noexcept {
    std::fill(tag.begin(), tag.end(), std::uint8_t{0});
    if (!work_.live) return false;
    if (work_.text_size == 0) begin_text(0);

    const std::size_t begun = work_.used % 16;
    std::uint8_t* end = stream_.data() + text_at + work_.used - begun;
    if (begun != 0) {
        clear_end(end, begun);
        end += 16;
    }
    store64_le(end, work_.ad_size);
    store64_le(end + 8, work_.text_size);
    work_.used += (0 - begun) % 16 + 16;
    work_.open_to = text_at + work_.used;
    authenticate_used();

    poly1305_state& mac = work_.kernel.mac;
    detail::reduce(mac);
    detail::add_block(mac, work_.s[0], work_.s[1], 0);
    store64_le(tag.data(), mac.h[0]);
    store64_le(tag.data() + 8, mac.h[1]);
    work_.live = false;
    return true;
}

status encryptor::update(bytes_view in, bytes out) noexcept {
    const status admitted = admit(in, out);
    if (admitted == status::ok) process<direction::seal, extent::piece>(in, out.data());
    return admitted;
}

void encryptor::finish(block<tag_size> tag) && noexcept {
    [[maybe_unused]] const bool live = compute_tag(tag);
    assert(live);
}

status decryptor::update(bytes_view in, bytes out) noexcept {
    const status admitted = admit(in, out);
    if (admitted == status::ok) process<direction::open, extent::piece>(in, out.data());
    return admitted;
}

bool decryptor::finish(tag_view tag) && noexcept {
    std::array<std::uint8_t, tag_size> right;
    return compute_tag(right) && equal_constant_time(right, tag);
}

bool seal(key_view key, nonce_view nonce, bytes_view ad, bytes_view plaintext, bytes ciphertext,
          block<tag_size> tag, const aead_kernel& kernel) noexcept {
    encryptor message(key, nonce, kernel);
    if (message.admit(plaintext, ciphertext) != status::ok) return false;
    if (message.add_ad(ad) != status::ok) return false;
    message.process<encryptor::direction::seal, encryptor::extent::whole>(plaintext,
                                                                          ciphertext.data());
    std::move(message).finish(tag);
    return true;
}

bool open(key_view key, nonce_view nonce, bytes_view ad, bytes_view ciphertext, tag_view tag,
          bytes plaintext, const aead_kernel& kernel) noexcept {
    std::array<std::uint8_t, tag_size> given;  // the output may lie over the tag
    std::copy(tag.begin(), tag.end(), given.begin());
    decryptor message(key, nonce, kernel);
    if (message.admit(ciphertext, plaintext) == status::ok && message.add_ad(ad) == status::ok) {
        message.process<decryptor::direction::open, decryptor::extent::whole>(ciphertext,
                                                                              plaintext.data());
        if (std::move(message).finish(given)) return true;
    }
    wipe(plaintext);
    return false;
}

}  // namespace culvert::crypto::chacha20poly1305
