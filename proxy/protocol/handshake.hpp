// What both ends of the handshake share (PROTOCOL.md section 3): sizes, the hello, the result.
#pragma once

#include <chrono>
#include <optional>

#include "proxy/protocol/key_schedule.hpp"

namespace culvert::protocol {

using unix_seconds = std::uint64_t;

inline constexpr std::size_t max_pad = 1'023;
inline constexpr std::size_t hello_size = 16;
inline constexpr std::size_t box_a_size = 32 + hello_size + tag_size;
inline constexpr std::size_t box_b_size = 32 + tag_size;  // static mode: the client's key
inline constexpr std::size_t box_c_size = tag_size;       // static mode: proves it
inline constexpr std::size_t box_d_size = 32 + tag_size;
inline constexpr std::size_t box_f_size = 16 + tag_size;
inline constexpr std::size_t gate_size = salt_size + box_a_size;  // what a server reads first
inline constexpr std::size_t max_message1 = gate_size + box_b_size + box_c_size + max_pad;
inline constexpr std::size_t max_message2 = salt_size + box_d_size + box_f_size + max_pad;

// Where a handshake draws its salts, ephemeral keys and pads from.
class random_source {
  public:
    virtual ~random_source() = default;
    virtual void fill(bytes out) = 0;
};

// The kernel's.
[[nodiscard]] random_source& system_random();

// What a finished handshake leaves.
struct session_secrets {
    traffic_secret c2s;
    traffic_secret s2c;
    transcript_hash binding{};  // h, the channel binding

    // The keys of both directions' first epochs.
    [[nodiscard]] both_directions<epoch_keys> first_epochs() const {
        return epoch_keys::of(c2s, s2c);
    }
};

// The inside of box A behind the ephemeral key.
struct hello {
    unix_seconds time = 0;
    std::uint16_t pad_length = 0;

    void write(block<hello_size> out) const noexcept;
    // nullopt when a reserved byte is not zero or the pad is too long.
    static std::optional<hello> read(block_view<hello_size> in) noexcept;
};

// The inside of box F: a pad length and zeros.
void write_pad_length(block<16> out, std::uint16_t pad_length) noexcept;
[[nodiscard]] std::optional<std::uint16_t> read_pad_length(block_view<16> in) noexcept;

}  // namespace culvert::protocol
