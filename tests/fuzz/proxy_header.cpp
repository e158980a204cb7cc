// PROXY headers: whatever comes, in whatever pieces, it means what a second decoder says, which has
// the whole of it at once; and what was understood is the same once it is written down again.
#include "proxy/relay/proxy_protocol.hpp"

#include <arpa/inet.h>

#include <cstring>
#include <regex>

#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {
namespace {

using relay::proxied;
using relay::proxy_header_reader;
using state = proxy_header_reader::state;

struct verdict {
    state end = state::malformed;
    std::size_t size = 0;  // of the header, when it is done
    std::optional<proxied> about;
};

// ---- the second decoder ----

std::uint32_t crc32c(const buffer& of) {
    std::uint32_t value = 0xffffffff;
    for (const std::uint8_t byte : of) {
        value ^= byte;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78U : 0U);
    }
    return ~value;
}

bool read_place(const std::string& address, const std::string& port, bool ipv4,
                carrier::ip_place& into) {
    std::uint8_t* const to = into.address.data();
    if (ipv4) to[10] = to[11] = 0xff;
    const unsigned long number = std::stoul(port);
    into.port = static_cast<std::uint16_t>(number);
    return number <= 65'535 &&
           ::inet_pton(ipv4 ? AF_INET : AF_INET6, address.c_str(), ipv4 ? to + 12 : to) == 1;
}

verdict decode_line(const std::string& all) {
    const std::size_t end = all.find("\r\n");
    const std::string start = "PROXY ";
    if (all.compare(0, start.size(), start, 0, std::min(all.size(), start.size())) != 0) return {};
    if (end == all.npos || end + 2 > 107)
        return {all.size() < 107 ? state::more : state::malformed, 0, {}};
    const std::string line = all.substr(0, end);
    if (line == "PROXY UNKNOWN" || line.starts_with("PROXY UNKNOWN "))
        return {state::done, end + 2, {}};
    static const std::regex form(
        "PROXY TCP([46]) ([0-9A-Fa-f.:]+) ([0-9A-Fa-f.:]+) (0|[1-9][0-9]{0,4}) "
        "(0|[1-9][0-9]{0,4})");
    std::smatch parts;
    if (!std::regex_match(line, parts, form)) return {};
    proxied about;
    const bool ipv4 = parts[1] == "4";
    if (!read_place(parts[2], parts[4], ipv4, about.from)) return {};
    if (!read_place(parts[3], parts[5], ipv4, about.to)) return {};
    return {state::done, end + 2, about};
}

// The bytes of addresses by family; -1: no family.
int block_of(unsigned family) {
    switch (family) {
        case 0x00:
            return 0;
        case 0x11:
        case 0x12:
            return 12;
        case 0x21:
        case 0x22:
            return 36;
        case 0x31:
        case 0x32:
            return 216;
        default:
            return -1;
    }
}

bool tlvs_are_good(const buffer& header, std::size_t at) {
    std::size_t sums = 0;
    for (; at != header.size();) {
        if (at + 3 > header.size()) return false;
        const std::size_t size = header[at + 1] * 256U + header[at + 2];
        if (at + 3 + size > header.size()) return false;
        if (header[at] == 3) {
            if (++sums > 1 || size != 4) return false;
            buffer zeroed = header;
            std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(at) + 3, 4, 0);
            std::uint32_t told = 0;
            std::memcpy(&told, header.data() + at + 3, 4);
            if (ntohl(told) != crc32c(zeroed)) return false;
        }
        at += 3 + size;
    }
    return true;
}

proxied addresses_in(const buffer& header, bool ipv4) {
    proxied about;
    const std::size_t size = ipv4 ? 4 : 16;
    for (auto* place : {&about.from, &about.to}) {
        const std::size_t at = place == &about.from ? 16 : 16 + size;
        if (ipv4) place->address[10] = place->address[11] = 0xff;
        std::memcpy(place->address.data() + 16 - size, header.data() + at, size);
        const std::size_t port = 16 + 2 * size + (place == &about.from ? 0 : 2);
        place->port = static_cast<std::uint16_t>(header[port] * 256 + header[port + 1]);
    }
    return about;
}

verdict decode_binary(const buffer& all) {
    static constexpr char signature[] = "\r\n\r\n\0\r\nQUIT\n";
    if (std::memcmp(all.data(), signature, std::min<std::size_t>(all.size(), 12)) != 0) return {};
    if (all.size() < 16) return {state::more, 0, {}};
    const std::size_t size = 16 + all[14] * 256U + all[15];
    if (size > 4'096) return {};
    if (all.size() < size) return {state::more, 0, {}};
    const buffer header(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    const int block = block_of(header[13]);
    if ((header[12] != 0x20 && header[12] != 0x21) || block < 0) return {};
    verdict good{state::done, size, {}};
    if (header[12] == 0x20 || block == 0) return good;
    const auto first_tlv = 16 + static_cast<std::size_t>(block);
    if (size < first_tlv || !tlvs_are_good(header, first_tlv)) return {};
    if ((header[13] & 0x0f) == 1 && block != 216)
        good.about = addresses_in(header, header[13] == 0x11);
    return good;
}

verdict decode(const buffer& all) {
    if (all.empty()) return {state::more, 0, {}};
    if (all[0] == 'P') return decode_line({all.begin(), all.end()});
    return decode_binary(all);
}

// ---- ----

void check_written(const std::optional<proxied>& about, const std::string& client) {
    for (const buffer& header :
         {relay::proxy_header_v1(about), relay::proxy_header_v2(about, client)}) {
        proxy_header_reader again;
        require(again.feed(header) == header.size());
        require(again.current() == state::done && again.about() == about);
        require(decode(header).about == about && decode(header).size == header.size());
    }
}

// A header that begins like one more often than not; with the right checksum, if asked for.
buffer draw(input& in) {
    const auto kind = in.byte();
    if (kind == 0) return in.rest();
    if (kind == 1) {
        const std::string text = "PROXY " + in.rest_as_text();
        return copy(crypto::as_bytes(text));
    }
    buffer header{0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};
    const buffer rest = in.rest();
    header.insert(header.end(), rest.begin(), rest.end());
    if (kind == 2 || header.size() < 16) return header;
    const std::size_t size = header.size() - 16 + 7;
    header[14] = static_cast<std::uint8_t>(size >> 8);
    header[15] = static_cast<std::uint8_t>(size);
    static constexpr std::array<std::uint8_t, 7> checksum{3, 0, 4, 0, 0, 0, 0};
    header.insert(header.end(), checksum.begin(), checksum.end());
    const std::uint32_t sum = htonl(crc32c(header));
    std::memcpy(header.data() + header.size() - 4, &sum, 4);
    return header;
}

void run(input in) {
    input cuts(in);  // the same bytes say how the header is cut
    const buffer all = draw(in);
    const verdict right = decode(all);
    proxy_header_reader reader;
    std::size_t taken = 0;
    cuts.in_pieces(all, [&](const buffer& piece) { taken += reader.feed(piece); });
    require(reader.current() == right.end);
    require(taken <= all.size());
    require(reader.about() == right.about);
    if (right.end == state::more) require(taken == all.size());
    if (right.end == state::malformed) require(*reader.fault() != '\0');
    if (right.end != state::done) return;
    require(taken == right.size);
    check_written(right.about, std::string(all.begin(), all.begin() + std::min<std::ptrdiff_t>(
                                                                          255, std::ssize(all))));
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
