#include <algorithm>
#include <utility>

#include "crypto/chacha20poly1305.hpp"

namespace culvert::crypto::chacha20poly1305 {

status stream_opener::add_ad(bytes_view ad) noexcept {
    if (held_size_ != 0) return status::late_ad;
    return message_.add_ad(ad);
}

std::size_t stream_opener::output_size(std::size_t in_size) const noexcept {
    // More than 16 bytes in all, without a sum that could overflow.
    const std::size_t room = tag_size - held_size_;
    return in_size > room ? in_size - room : 0;
}

status stream_opener::admit(bytes_view in, bytes_view out) const noexcept {
    const std::size_t size = output_size(in.size());
    if (size > message_.remaining()) return status::data_limit;
    if (size > out.size()) return status::short_output;
    const bool in_place = reinterpret_cast<std::uintptr_t>(out.data()) + held_size_ ==
                          reinterpret_cast<std::uintptr_t>(in.data());
    if (!in_place && share_memory(in, out.first(size))) return status::overlap;
    return status::ok;
}

progress stream_opener::update(bytes_view in, bytes out) noexcept {
    const status admitted = admit(in, out);
    if (admitted != status::ok) return {admitted, 0};

    const std::size_t size = output_size(in.size());
    const std::size_t from_held = std::min(size, held_size_);
    const std::size_t from_in = size - from_held;
    message_.open_piece(bytes_view(held_).first(from_held), out.data());
    message_.open_piece(in.first(from_in), out.data() + from_held);
    if (from_held == tag_size) {
        std::memcpy(held_.data(), in.data() + from_in, tag_size);
    } else {
        hold(in.subspan(from_in), from_held);
    }
    return {status::ok, size};
}

void stream_opener::hold(bytes_view in, std::size_t released) noexcept {
    std::copy(held_.begin() + released, held_.begin() + held_size_, held_.begin());
    held_size_ -= released;
    std::copy(in.begin(), in.end(), held_.begin() + held_size_);
    held_size_ += in.size();
}

bool stream_opener::finish() && noexcept {
    return held_size_ == tag_size && std::move(message_).finish(held_);
}

}  // namespace culvert::crypto::chacha20poly1305
