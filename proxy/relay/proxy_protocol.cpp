#include "proxy/relay/proxy_protocol.hpp"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <charconv>
#include <string>

#include "config/settings.hpp"

namespace culvert::relay {
namespace {

using carrier::bytes_view;
using carrier::ip_place;
using octets = std::vector<std::uint8_t>;

constexpr std::string_view text_signature = "PROXY ";
constexpr std::size_t longest_line = 107;  // CRLF included

constexpr std::array<std::uint8_t, 12> signature{0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
                                                 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};
constexpr std::size_t fixed_size = 16;  // signature, version and command, family, length
constexpr std::uint8_t command_local = 0x20, command_proxy = 0x21;
constexpr std::uint8_t unspecified = 0x00, tcp_over_ipv4 = 0x11, tcp_over_ipv6 = 0x21;
constexpr std::uint8_t checksum_tlv = 0x03;
constexpr std::size_t tlv_header = 3;
constexpr std::size_t ipv4_size = 4, ipv6_size = 16;

// The bytes of addresses and ports; none for a family that may not be.
std::optional<std::size_t> addresses_size(std::uint8_t family) noexcept {
    switch (family) {
        case unspecified:
            return 0;
        case tcp_over_ipv4:
        case 0x12:
            return 12;
        case tcp_over_ipv6:
        case 0x22:
            return 36;
        case 0x31:
        case 0x32:
            return 216;
        default:
            return std::nullopt;
    }
}

std::size_t load16(bytes_view at) noexcept {
    return static_cast<std::size_t>(at[0]) << 8 | at[1];
}

void put16(octets& to, std::size_t value) {
    to.push_back(static_cast<std::uint8_t>(value >> 8));
    to.push_back(static_cast<std::uint8_t>(value));
}

void put_tlv(octets& to, std::uint8_t type, bytes_view value) {
    to.push_back(type);
    put16(to, value.size());
    to.insert(to.end(), value.begin(), value.end());
}

using crc32c = boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true>;

// ---- writing ----

bool both_ipv4(const proxied& about) noexcept {
    return about.from.is_ipv4() && about.to.is_ipv4();
}

bytes_view address_of(const ip_place& place, bool short_form) noexcept {
    return bytes_view(place.address).subspan(short_form ? ipv6_size - ipv4_size : 0);
}

std::string text_of(const ip_place& place, bool short_form) {
    const std::string text = address_text(place);
    return short_form || !place.is_ipv4() ? text : "::ffff:" + text;
}

void put_addresses(octets& to, const proxied& about, bool short_form) {
    for (const ip_place* place : {&about.from, &about.to}) {
        const bytes_view address = address_of(*place, short_form);
        to.insert(to.end(), address.begin(), address.end());
    }
    put16(to, about.from.port);
    put16(to, about.to.port);
}

// Sets the length, and the checksum in a TLV at the end.
octets finished(octets header) {
    put_tlv(header, checksum_tlv, std::array<std::uint8_t, 4>{});
    const std::size_t size = header.size() - fixed_size;
    header[fixed_size - 2] = static_cast<std::uint8_t>(size >> 8);
    header[fixed_size - 1] = static_cast<std::uint8_t>(size);
    crc32c sum;
    sum.process_bytes(header.data(), header.size());
    for (std::size_t i = 0; i < 4; ++i)
        header[header.size() - 4 + i] = static_cast<std::uint8_t>(sum.checksum() >> (24 - 8 * i));
    return header;
}

octets begin_header(std::uint8_t command, std::uint8_t family) {
    octets header(fixed_size);
    std::copy(signature.begin(), signature.end(), header.begin());
    header[signature.size()] = command;
    header[signature.size() + 1] = family;
    return header;
}

// ---- reading ----

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (text.size() > 1 && text.front() == '0') return std::nullopt;
    return port;
}

// Up to the next space, which goes with it.
std::string_view next_part(std::string_view& rest) noexcept {
    const std::string_view part = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

std::optional<proxied> parse_places(bool ipv4, std::string_view rest) {
    // Exactly four parts: a space at the end would be a fifth.
    if (std::count(rest.begin(), rest.end(), ' ') != 3) return std::nullopt;
    const std::string_view source = next_part(rest);
    const std::string_view destination = next_part(rest);
    const std::string_view source_port = next_part(rest);
    for (const std::string_view address : {source, destination}) {
        if (config::is_ipv4(address) != ipv4) return std::nullopt;
        if (address.find('\0') != address.npos) return std::nullopt;  // would end it unseen
    }
    const auto from = config::parse_address(source);
    const auto to = config::parse_address(destination);
    const auto from_port = parse_port(source_port);
    const auto to_port = parse_port(rest);
    if (!from || !to || !from_port || !to_port) return std::nullopt;
    return proxied{{*from, *from_port}, {*to, *to_port}};
}

// TLVs, one behind the other to the end. `sum` is where the value of the checksum begins.
bool walk_tlvs(bytes_view header, std::size_t at, std::optional<std::size_t>& sum) {
    while (at < header.size()) {
        if (header.size() - at < tlv_header) return false;
        const std::size_t size = load16(header.subspan(at + 1));
        const std::size_t value = at + tlv_header;
        if (header.size() - value < size) return false;
        if (header[at] == checksum_tlv) {
            if (size != 4 || sum) return false;
            sum = value;
        }
        at = value + size;
    }
    return true;
}

bool checksum_is_right(bytes_view header, std::size_t at) {
    constexpr std::array<std::uint8_t, 4> zeros{};
    crc32c sum;
    sum.process_bytes(header.data(), at);
    sum.process_bytes(zeros.data(), zeros.size());
    sum.process_bytes(header.data() + at + 4, header.size() - at - 4);
    return sum.checksum() == (load16(header.subspan(at)) << 16 | load16(header.subspan(at + 2)));
}

proxied read_addresses(bytes_view at, std::size_t size) {
    proxied about;
    for (ip_place* place : {&about.from, &about.to}) {
        if (size == ipv4_size) place->address[10] = place->address[11] = 0xff;
        std::copy_n(at.begin(), size, place->address.end() - static_cast<std::ptrdiff_t>(size));
        at = at.subspan(size);
    }
    about.from.port = static_cast<std::uint16_t>(load16(at));
    about.to.port = static_cast<std::uint16_t>(load16(at.subspan(2)));
    return about;
}

}  // namespace

octets proxy_header_v1(const std::optional<proxied>& about) {
    std::string line = "PROXY UNKNOWN\r\n";
    if (about) {
        const bool short_form = both_ipv4(*about);
        line = std::string("PROXY TCP") + (short_form ? "4 " : "6 ") +
               text_of(about->from, short_form) + " " + text_of(about->to, short_form) + " " +
               std::to_string(about->from.port) + " " + std::to_string(about->to.port) + "\r\n";
    }
    return {line.begin(), line.end()};
}

octets proxy_header_v2(const std::optional<proxied>& about, std::string_view client) {
    const bool short_form = about && both_ipv4(*about);
    const std::uint8_t family = short_form ? tcp_over_ipv4 : tcp_over_ipv6;
    octets header = begin_header(command_proxy, about ? family : unspecified);
    if (about) put_addresses(header, *about, short_form);
    if (!client.empty()) put_tlv(header, client_name_tlv, crypto::as_bytes(client));
    return finished(std::move(header));
}

octets proxy_header_local() {
    return begin_header(command_local, unspecified);
}

std::size_t proxy_header_reader::feed(bytes_view piece) {
    std::size_t taken = 0;
    while (state_ == state::more && taken < piece.size()) {
        const std::size_t size = std::min(wanted(), piece.size() - taken);
        const bytes_view part = piece.subspan(taken, size);
        held_.insert(held_.end(), part.begin(), part.end());
        taken += size;
        judge();
    }
    return taken;
}

// So many bytes belong to the header at least.
std::size_t proxy_header_reader::wanted() const noexcept {
    if (held_.empty() || is_text()) return 1;
    if (held_.size() < fixed_size) return fixed_size - held_.size();
    return fixed_size + load16(bytes_view(held_).subspan(fixed_size - 2)) - held_.size();
}

void proxy_header_reader::judge() {
    if (is_text())
        judge_text();
    else
        judge_binary();
}

void proxy_header_reader::judge_text() {
    const std::string_view text(reinterpret_cast<const char*>(held_.data()), held_.size());
    const std::string_view begin = text.substr(0, text_signature.size());
    if (!text_signature.starts_with(begin)) return fail("it is no header");
    if (text.ends_with("\r\n")) return parse_text(text.substr(0, text.size() - 2));
    if (text.size() == longest_line) fail("the line does not end");
}

void proxy_header_reader::judge_binary() {
    const std::size_t begin = std::min(held_.size(), signature.size());
    if (!std::equal(signature.begin(), signature.begin() + static_cast<std::ptrdiff_t>(begin),
                    held_.begin()))
        return fail("it is no header");
    if (held_.size() < fixed_size) return;
    if (fixed_size + load16(bytes_view(held_).subspan(fixed_size - 2)) > longest)
        return fail("it is too long");
    if (wanted() == 0) parse_binary();
}

void proxy_header_reader::parse_text(std::string_view line) {
    line.remove_prefix(text_signature.size());
    if (line != "UNKNOWN" && !line.starts_with("UNKNOWN ")) {
        const bool ipv4 = line.starts_with("TCP4 ");
        if (!ipv4 && !line.starts_with("TCP6 ")) return fail("its protocol is unknown");
        about_ = parse_places(ipv4, line.substr(5));
        if (!about_) return fail("its addresses are no addresses");
    }
    state_ = state::done;
}

void proxy_header_reader::parse_binary() {
    const std::uint8_t command = held_[signature.size()];
    const std::uint8_t family = held_[signature.size() + 1];
    const auto size = addresses_size(family);
    if (command != command_local && command != command_proxy)
        return fail("its version or command is unknown");
    if (!size) return fail("its family is unknown");
    if (command == command_proxy && family != unspecified) {
        std::optional<std::size_t> sum;
        if (held_.size() < fixed_size + *size) return fail("its addresses are cut");
        if (!walk_tlvs(held_, fixed_size + *size, sum)) return fail("its TLVs are out of order");
        if (sum && !checksum_is_right(held_, *sum)) return fail("its checksum is wrong");
        if (family == tcp_over_ipv4 || family == tcp_over_ipv6)
            about_ = read_addresses(bytes_view(held_).subspan(fixed_size),
                                    family == tcp_over_ipv4 ? ipv4_size : ipv6_size);
    }
    state_ = state::done;
}

void proxy_header_reader::fail(const char* why) {
    state_ = state::malformed;
    fault_ = why;
}

}  // namespace culvert::relay
