#include "bench/wire.hpp"

#include <algorithm>
#include <cstring>

namespace culvert::load {
namespace {

using crypto::bytes_view;
using crypto::load64_le;
using crypto::store64_le;

constexpr std::array<std::uint8_t, 16> request_magic{'c', 'u', 'l', 'v', 'e', 'r', 't',  '-',
                                                     'l', 'o', 'a', 'd', '/', '1', '\n', 0};
constexpr std::array<std::uint8_t, 8> verdict_magic{'v', 'e', 'r', 'd', 'i', 'c', 't', '\n'};

std::uint64_t fnv1a(bytes_view in) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::uint8_t byte : in) hash = (hash ^ byte) * 0x100000001b3;
    return hash;
}

template <std::size_t N>
void put_check(std::array<std::uint8_t, N>& message) noexcept {
    store64_le(message.data() + N - 8, fnv1a(bytes_view(message).first(N - 8)));
}

bool whole(bytes_view message, bytes_view magic) noexcept {
    const bytes_view checked = message.first(message.size() - 8);
    return std::equal(magic.begin(), magic.end(), message.begin()) &&
           load64_le(message.data() + checked.size()) == fnv1a(checked);
}

}  // namespace

std::array<std::uint8_t, request_size> encode(const request& from) noexcept {
    std::array<std::uint8_t, request_size> out{};
    std::ranges::copy(request_magic, out.begin());
    store64_le(out.data() + 16, static_cast<std::uint64_t>(from.kind));
    store64_le(out.data() + 24, from.seed_up);
    store64_le(out.data() + 32, from.seed_down);
    store64_le(out.data() + 40, from.size);
    store64_le(out.data() + 48, from.reply_size);
    put_check(out);
    return out;
}

std::array<std::uint8_t, verdict_size> encode(const verdict& from) noexcept {
    std::array<std::uint8_t, verdict_size> out{};
    std::ranges::copy(verdict_magic, out.begin());
    store64_le(out.data() + 8, from.received);
    store64_le(out.data() + 16, from.sent);
    store64_le(out.data() + 24, from.first_bad);
    put_check(out);
    return out;
}

std::optional<request> decode_request(crypto::block_view<request_size> in) noexcept {
    const std::uint64_t kind = load64_le(in.data() + 16);
    if (!whole(in, request_magic) || kind < 1 || kind > 4) return {};
    request out;
    out.kind = static_cast<load::kind>(kind);
    out.seed_up = load64_le(in.data() + 24);
    out.seed_down = load64_le(in.data() + 32);
    out.size = load64_le(in.data() + 40);
    out.reply_size = load64_le(in.data() + 48);
    return out;
}

std::optional<verdict> decode_verdict(crypto::block_view<verdict_size> in) noexcept {
    if (!whole(in, verdict_magic)) return {};
    return verdict{load64_le(in.data() + 8), load64_le(in.data() + 16), load64_le(in.data() + 24)};
}

}  // namespace culvert::load
