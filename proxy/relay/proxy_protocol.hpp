// The header of the PROXY protocol, versions 1 and 2, without I/O: what a proxy says in front of a
// connection of whom it comes from. After HAProxy's proxy-protocol.txt (2020/03/05).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/carrier/socket.hpp"

namespace culvert::relay {

// Whom a connection comes from, and where it was made to.
struct proxied {
    carrier::ip_place from;
    carrier::ip_place to;

    friend bool operator==(const proxied&, const proxied&) = default;
};

// Version 2 tells the client's name in a TLV of this type, one of those left to applications. The
// value is the name, in no other form.
inline constexpr std::uint8_t client_name_tlv = 0xe0;

// The header of version 1; without `about`, UNKNOWN.
[[nodiscard]] std::vector<std::uint8_t> proxy_header_v1(const std::optional<proxied>& about);

// The header of version 2, with a checksum; without `about`, of no family. `client`: 0–255 bytes,
// no TLV if empty.
[[nodiscard]] std::vector<std::uint8_t> proxy_header_v2(const std::optional<proxied>& about,
                                                        std::string_view client);
// The same for a connection of the proxy's own, a health check: LOCAL.
[[nodiscard]] std::vector<std::uint8_t> proxy_header_local();

// Takes a header of either version in pieces of any size.
class proxy_header_reader {
  public:
    // A version 2 header may hold this many bytes, its TLVs included. Of version 1 it is 107.
    static constexpr std::size_t longest = 4'096;

    enum class state : std::uint8_t { more, done, malformed };

    // Takes no byte behind the header's end. Returns how many it took.
    std::size_t feed(carrier::bytes_view piece);

    [[nodiscard]] state current() const noexcept { return state_; }

    // When done. None: the connection is the proxy's own, or its kind of address is unknown here.
    [[nodiscard]] const std::optional<proxied>& about() const noexcept { return about_; }
    // When malformed: why.
    [[nodiscard]] const char* fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] bool is_text() const noexcept { return held_.front() == 'P'; }
    [[nodiscard]] std::size_t wanted() const noexcept;
    void judge();
    void judge_text();
    void judge_binary();
    void parse_text(std::string_view line);
    void parse_binary();
    void fail(const char* why);

    std::vector<std::uint8_t> held_;
    state state_ = state::more;
    std::optional<proxied> about_;
    const char* fault_ = "";
};

}  // namespace culvert::relay
