#include "config/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "config/quote.hpp"

namespace culvert::config {
namespace {

constexpr unsigned all_bits = 128;
constexpr unsigned mapped_bits = 96;  // ::ffff:0:0/96 in front of an IPv4 address

bool has_scope_form(std::string_view scope) noexcept {
    return !scope.empty() && scope.size() < 16 && std::ranges::all_of(scope, [](char c) {
        return c > ' ' && c <= '~' && c != '/' && c != ']' && c != '%';
    });
}

std::optional<unsigned> parse_prefix(std::string_view text, unsigned most) noexcept {
    unsigned prefix = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), prefix);
    if (error != std::errc{} || end != text.data() + text.size() || prefix > most) return {};
    return prefix;
}

}  // namespace

bool is_ipv4(std::string_view text) {
    in_addr parsed{};
    return inet_pton(AF_INET, std::string(text).c_str(), &parsed) == 1;
}

bool is_ipv6(std::string_view text) {
    const std::size_t percent = text.find('%');
    if (percent != text.npos && !has_scope_form(text.substr(percent + 1))) return false;
    in6_addr parsed{};
    return inet_pton(AF_INET6, std::string(text.substr(0, percent)).c_str(), &parsed) == 1;
}

std::optional<address_bytes> parse_address(std::string_view text) {
    address_bytes bytes{};
    const std::string copy(text);
    if (inet_pton(AF_INET6, copy.c_str(), bytes.data()) == 1) return bytes;
    bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (inet_pton(AF_INET, copy.c_str(), bytes.data() + mapped_bits / 8) == 1) return bytes;
    return {};
}

bool address_range::contains(const address_bytes& address) const noexcept {
    const unsigned whole = prefix / 8;
    if (!std::equal(first.begin(), first.begin() + whole, address.begin())) return false;
    const unsigned odd_bits = prefix % 8;
    return odd_bits == 0 || ((first[whole] ^ address[whole]) >> (8 - odd_bits)) == 0;
}

result<address_range> parse_address_range(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::string_view address = text.substr(0, slash);
    const std::optional<address_bytes> first = parse_address(address);
    if (!first) return reason{quote(text) + " is not an IP address or ADDRESS/PREFIX"};
    if (slash == text.npos) return address_range{*first, all_bits};
    const unsigned before = is_ipv4(address) ? mapped_bits : 0;
    const auto prefix = parse_prefix(text.substr(slash + 1), all_bits - before);
    if (!prefix) {
        return reason{"the prefix of " + quote(text) + " is not a number from 0 to " +
                      std::to_string(all_bits - before)};
    }
    return address_range{*first, before + *prefix};
}

}  // namespace culvert::config
