// The data framing of RFC 6455 section 5, without I/O: a byte stream in binary messages whose
// borders mean nothing. HTTP and the upgrade are Beast's; the frames are ours because culvert/1
// must be able to end a broken peer with a reset and no Close frame, must hold no buffer of its
// own for an idle connection, and unmasks where the bytes lie.
#pragma once

#include <array>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <optional>

#include "crypto/bytes.hpp"

namespace culvert::carrier::websocket {

using crypto::bytes;
using crypto::bytes_view;

using mask_key = std::array<std::uint8_t, 4>;

enum class role : std::uint8_t { client, server };

inline constexpr std::size_t max_header = 14;
inline constexpr std::size_t max_control_payload = 125;
inline constexpr std::uint16_t close_normal = 1000;

enum class opcode : std::uint8_t {
    continuation = 0x0,
    text = 0x1,
    binary = 0x2,
    close = 0x8,
    ping = 0x9,
    pong = 0xa,
};

enum class fault : std::uint8_t {
    none,
    reserved_bit,  // no extension was agreed on
    unknown_opcode,
    text_message,   // the stream is binary
    masking,        // an unmasked client frame, or a masked server frame
    length,         // over 2^63 - 1, or not in its shortest form
    control_frame,  // fragmented, or longer than 125 bytes
    fragmentation,  // a continuation of nothing, or a message inside a message
    close_payload,  // one byte long, or with a code that may not be sent
};
boost::system::error_code make_error_code(fault f) noexcept;

// The payload of a control frame.
struct control_payload {
    std::array<std::uint8_t, max_control_payload> data{};
    std::uint8_t size = 0;
    [[nodiscard]] bytes_view view() const noexcept { return bytes_view(data).first(size); }
};

class frame_reader {
  public:
    explicit frame_reader(role reader) noexcept : reader_(reader) {}

    // Takes the next bytes of the connection, in pieces of any size. Moves what belongs to the
    // stream, unmasked, to the front of `raw` and returns its size. After a fault or a Close
    // nothing more is taken.
    std::size_t decode(bytes raw) noexcept;

    [[nodiscard]] fault failure() const noexcept { return fault_; }
    [[nodiscard]] bool closed() const noexcept { return closed_; }  // a Close frame came

    // The newest ping that nobody has answered yet (RFC 6455 section 5.5.3 allows to skip older).
    [[nodiscard]] std::optional<control_payload> take_ping() noexcept;
    [[nodiscard]] bool pinged() const noexcept { return ping_.has_value(); }

    // Bytes of the running frame's payload that are still to come: 0 between frames.
    [[nodiscard]] std::uint64_t remaining() const noexcept { return remaining_; }

  private:
    std::size_t take_header(bytes_view in) noexcept;
    [[nodiscard]] std::size_t header_wanted() const noexcept;
    void begin_frame() noexcept;
    [[nodiscard]] fault judge_header() const noexcept;
    [[nodiscard]] std::uint64_t declared_length() const noexcept;
    void take_control(bytes_view in) noexcept;
    void end_frame() noexcept;
    [[nodiscard]] bool control() const noexcept { return (header_[0] & 0x08) != 0; }
    [[nodiscard]] opcode current() const noexcept { return static_cast<opcode>(header_[0] & 0x0f); }
    void unmask(bytes_view in, std::uint8_t* out) noexcept;

    const role reader_;
    std::array<std::uint8_t, max_header> header_{};
    std::uint8_t header_size_ = 0;
    mask_key mask_{};
    std::uint64_t remaining_ = 0;
    bool in_frame_ = false;    // the header is whole
    bool in_message_ = false;  // the last data frame was not the final one
    bool closed_ = false;
    fault fault_ = fault::none;
    control_payload control_;
    std::optional<control_payload> ping_;
};

// A final frame's header. With a mask (a client's) the payload must be masked too.
struct frame_header {
    std::array<std::uint8_t, max_header> data{};
    std::uint8_t size = 0;
    [[nodiscard]] bytes view() noexcept { return bytes(data).first(size); }
};
[[nodiscard]] frame_header make_header(opcode op, std::uint64_t payload_size,
                                       const mask_key* mask) noexcept;

// data[i] ^= mask[(i + offset) mod 4].
void apply_mask(bytes data, const mask_key& mask, std::size_t offset = 0) noexcept;

}  // namespace culvert::carrier::websocket

template <>
struct boost::system::is_error_code_enum<culvert::carrier::websocket::fault> : std::true_type {};
