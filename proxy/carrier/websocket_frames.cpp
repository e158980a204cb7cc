#include "proxy/carrier/websocket_frames.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace culvert::carrier::websocket {
namespace {

constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::uint8_t length_bits = 0x7f;
constexpr std::uint8_t length_16 = 126;
constexpr std::uint8_t length_64 = 127;

std::uint64_t load_big_endian(const std::uint8_t* from, std::size_t size) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = (value << 8) | from[i];
    return value;
}

// The mask as it stands `offset` bytes further.
mask_key rotated(const mask_key& mask, std::size_t offset) noexcept {
    mask_key out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = mask[(i + offset) % mask.size()];
    return out;
}

bool is_known(opcode op) noexcept {
    switch (op) {
        case opcode::continuation:
        case opcode::text:
        case opcode::binary:
        case opcode::close:
        case opcode::ping:
        case opcode::pong:
            return true;
    }
    return false;
}

// RFC 6455 section 7.4: which codes may stand in a Close frame.
bool may_be_sent(std::uint64_t code) noexcept {
    const bool defined = code >= 1000 && code <= 1014;
    const bool internal = code == 1004 || code == 1005 || code == 1006;
    return (defined && !internal) || (code >= 3000 && code <= 4999);
}

const char* text_of(fault f) noexcept {
    switch (f) {
        case fault::none:
            return "no fault";
        case fault::reserved_bit:
            return "reserved bit set";
        case fault::unknown_opcode:
            return "unknown opcode";
        case fault::text_message:
            return "text message";
        case fault::masking:
            return "frame masked the wrong way";
        case fault::length:
            return "frame length not allowed";
        case fault::control_frame:
            return "control frame fragmented or too long";
        case fault::fragmentation:
            return "fragments out of order";
        case fault::close_payload:
            return "malformed Close frame";
    }
    return "unknown fault";
}

class category final : public boost::system::error_category {
    [[nodiscard]] const char* name() const noexcept override { return "websocket"; }
    [[nodiscard]] std::string message(int value) const override {
        return text_of(static_cast<fault>(value));
    }
};

}  // namespace

boost::system::error_code make_error_code(fault f) noexcept {
    static const category instance;
    return {static_cast<int>(f), instance};
}

std::size_t frame_reader::decode(bytes raw) noexcept {
    std::size_t read = 0;
    std::size_t kept = 0;
    while (read < raw.size() && fault_ == fault::none && !closed_) {
        if (!in_frame_) {
            read += take_header(raw.subspan(read));
            continue;
        }
        const bytes part = raw.subspan(
            read, static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, raw.size() - read)));
        if (control()) {
            take_control(part);
        } else {
            unmask(part, raw.data() + kept);
            kept += part.size();
        }
        read += part.size();
        remaining_ -= part.size();
        if (remaining_ == 0) end_frame();
    }
    return kept;
}

std::optional<control_payload> frame_reader::take_ping() noexcept {
    return std::exchange(ping_, std::nullopt);
}

// 2 bytes first; they say how many follow.
std::size_t frame_reader::header_wanted() const noexcept {
    if (header_size_ < 2) return 2;
    const std::uint8_t length = header_[1] & length_bits;
    const std::size_t extended = length == length_16 ? 2 : length == length_64 ? 8 : 0;
    return 2 + extended + ((header_[1] & mask_bit) != 0 ? 4 : 0);
}

std::size_t frame_reader::take_header(bytes_view in) noexcept {
    const std::size_t taken = std::min(header_wanted() - header_size_, in.size());
    std::copy_n(in.begin(), taken, header_.begin() + header_size_);
    header_size_ = static_cast<std::uint8_t>(header_size_ + taken);
    // The first two bytes are judged before more of the frame is waited for.
    if (header_size_ == 2) fault_ = judge_header();
    if (fault_ == fault::none && header_size_ >= 2 && header_size_ == header_wanted())
        begin_frame();
    return taken;
}

fault frame_reader::judge_header() const noexcept {
    if ((header_[0] & reserved_bits) != 0) return fault::reserved_bit;
    if (!is_known(current())) return fault::unknown_opcode;
    if (((header_[1] & mask_bit) != 0) != (reader_ == role::server)) return fault::masking;
    const bool final = (header_[0] & final_bit) != 0;
    if (control()) {
        const bool fits = (header_[1] & length_bits) <= max_control_payload;
        return final && fits ? fault::none : fault::control_frame;
    }
    if (current() == opcode::text) return fault::text_message;
    const bool continues = current() == opcode::continuation;
    return continues == in_message_ ? fault::none : fault::fragmentation;
}

std::uint64_t frame_reader::declared_length() const noexcept {
    const std::uint8_t length = header_[1] & length_bits;
    if (length == length_16) return load_big_endian(header_.data() + 2, 2);
    if (length == length_64) return load_big_endian(header_.data() + 2, 8);
    return length;
}

void frame_reader::begin_frame() noexcept {
    const std::uint8_t length = header_[1] & length_bits;
    remaining_ = declared_length();
    const bool shortest = (length != length_16 || remaining_ >= length_16) &&
                          (length != length_64 || remaining_ > 0xffff);
    if (!shortest || (remaining_ >> 63) != 0) {
        fault_ = fault::length;
        return;
    }
    if ((header_[1] & mask_bit) != 0)
        std::copy_n(header_.begin() + header_size_ - 4, 4, mask_.begin());
    else
        mask_ = {};
    if (!control()) in_message_ = (header_[0] & final_bit) == 0;
    control_.size = 0;
    in_frame_ = true;
    if (remaining_ == 0) end_frame();
}

void frame_reader::take_control(bytes_view in) noexcept {
    unmask(in, control_.data.data() + control_.size);
    control_.size = static_cast<std::uint8_t>(control_.size + in.size());
}

void frame_reader::end_frame() noexcept {
    in_frame_ = false;
    header_size_ = 0;
    if (current() == opcode::ping) ping_ = control_;
    if (current() != opcode::close) return;
    const bool well_formed =
        control_.size == 0 ||
        (control_.size >= 2 && may_be_sent(load_big_endian(control_.data.data(), 2)));
    if (well_formed) {
        closed_ = true;
    } else {
        fault_ = fault::close_payload;
    }
}

// `out` is `in` or stands before it. Afterwards the mask stands at the next byte's key.
void frame_reader::unmask(bytes_view in, std::uint8_t* out) noexcept {
    if (out != in.data() && !in.empty()) std::memmove(out, in.data(), in.size());
    if (reader_ == role::client) return;
    apply_mask({out, in.size()}, mask_);
    mask_ = rotated(mask_, in.size());
}

frame_header make_header(opcode op, std::uint64_t payload_size, const mask_key* mask) noexcept {
    frame_header out;
    const auto put = [&](std::uint64_t byte) {
        out.data[out.size++] = static_cast<std::uint8_t>(byte);
    };
    put(final_bit | static_cast<std::uint8_t>(op));
    const std::uint8_t masked = mask != nullptr ? mask_bit : 0;
    if (payload_size < length_16) {
        put(masked | payload_size);
    } else {
        const int extended = payload_size <= 0xffff ? 2 : 8;
        put(masked | (extended == 2 ? length_16 : length_64));
        for (int i = extended - 1; i >= 0; --i) put(payload_size >> (8 * i));
    }
    if (mask != nullptr)
        for (const std::uint8_t byte : *mask) put(byte);
    return out;
}

void apply_mask(bytes data, const mask_key& mask, std::size_t offset) noexcept {
    const mask_key turned = rotated(mask, offset);
    const std::uint64_t word = std::bit_cast<std::uint32_t>(turned) * 0x0000000100000001U;
    std::size_t i = 0;
    for (; i + sizeof word <= data.size(); i += sizeof word)
        crypto::store64_le(data.data() + i, crypto::load64_le(data.data() + i) ^ word);
    for (; i < data.size(); ++i) data[i] ^= turned[i % 4];
}

}  // namespace culvert::carrier::websocket
