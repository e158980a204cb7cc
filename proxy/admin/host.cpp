#include "proxy/admin/host.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

namespace culvert::admin {
namespace {

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

bool is_port(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_address(int family, std::string_view text) noexcept {
    std::array<char, INET6_ADDRSTRLEN> terminated{};
    if (text.size() >= terminated.size()) return false;
    std::copy(text.begin(), text.end(), terminated.begin());
    std::array<unsigned char, 16> address{};
    return ::inet_pton(family, terminated.data(), address.data()) == 1;
}

}  // namespace

bool is_host_of_loopback(std::string_view host, std::string_view own) noexcept {
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        if (end == host.npos) return false;
        const std::string_view rest = host.substr(end + 1);
        return is_address(AF_INET6, host.substr(1, end - 1)) &&
               (rest.empty() || (rest.front() == ':' && is_port(rest.substr(1))));
    }
    const std::size_t colon = std::min(host.find(':'), host.size());
    const std::string_view name = host.substr(0, colon);
    if (colon < host.size() && !is_port(host.substr(colon + 1))) return false;
    return is_address(AF_INET, name) || same_name(name, "localhost") ||
           (!own.empty() && same_name(name, own));
}

}  // namespace culvert::admin
