// What culvert-load and its backend say to each other on every connection; the one description of
// it. Integers are little-endian.
//
//   client → backend   request, 64 bytes; then the stream up; then the end (half-close)
//   backend → client   the stream down; then verdict, 40 bytes; then the end
//
// Both streams are patterns (pattern.hpp), whose seeds are those of the request. The backend checks
// the stream up and says at the end what it found; the client checks the stream down, and that the
// counts of both agree.
//
//   echo     down is up, byte for byte, as it comes
//   sink     down is empty
//   source   up is empty; down is a pattern, until `size` bytes were sent or the client has ended
//   reply    after every `size` bytes up, `reply_size` bytes of a pattern down
//
// request  0  magic "culvert-load/1\n\0"
//         16  u64 kind          24  u64 seed of up     32  u64 seed of down
//         40  u64 size          48  u64 reply_size     56  u64 check
// verdict  0  magic "verdict\n"
//          8  u64 bytes received        16  u64 bytes sent
//         24  u64 offset of the first wrong byte received, 2^64 - 1 when all were right
//         32  u64 check
//
// `check` is FNV-1a over the bytes before it: a request or a verdict may be damaged on its way too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "crypto/bytes.hpp"

namespace culvert::load {

inline constexpr std::size_t request_size = 64;
inline constexpr std::size_t verdict_size = 40;
inline constexpr std::uint64_t unbounded = ~std::uint64_t{0};

enum class kind : std::uint8_t { echo = 1, sink = 2, source = 3, reply = 4 };

struct request {
    load::kind kind = kind::echo;
    std::uint64_t seed_up = 0;
    std::uint64_t seed_down = 0;
    std::uint64_t size = 0;
    std::uint64_t reply_size = 0;
    friend bool operator==(const request&, const request&) = default;
};

struct verdict {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::uint64_t first_bad = unbounded;
    friend bool operator==(const verdict&, const verdict&) = default;
};

std::array<std::uint8_t, request_size> encode(const request& from) noexcept;
std::array<std::uint8_t, verdict_size> encode(const verdict& from) noexcept;

// Nothing when it is no request, or a damaged one.
std::optional<request> decode_request(crypto::block_view<request_size> in) noexcept;
std::optional<verdict> decode_verdict(crypto::block_view<verdict_size> in) noexcept;

}  // namespace culvert::load
