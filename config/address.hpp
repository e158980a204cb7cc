// IP addresses as bytes, and sets of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/reason.hpp"

namespace culvert::config {

// Both families in one form: an IPv4 address a.b.c.d is kept as ::ffff:a.b.c.d.
using address_bytes = std::array<std::uint8_t, 16>;

bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);  // a scope may follow, as in fe80::1%eth0

// An IPv4 or an IPv6 address without scope and brackets.
std::optional<address_bytes> parse_address(std::string_view text);

// One address, or all that share its first bits.
struct address_range {
    address_bytes first{};
    unsigned prefix = 128;  // bits of the 128; /24 of an IPv4 range is 120 here

    [[nodiscard]] bool contains(const address_bytes& address) const noexcept;
    friend bool operator==(const address_range&, const address_range&) = default;
};

// 192.0.2.7, 10.0.0.0/8, 2001:db8::/32; bits behind the prefix are ignored.
result<address_range> parse_address_range(std::string_view text);

}  // namespace culvert::config
