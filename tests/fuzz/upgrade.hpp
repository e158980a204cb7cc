// One end of an HTTP upgrade over a pair of sockets, the fuzzer at the other end, and a reader of
// HTTP headers that knows no leniency.
#pragma once

#include <openssl/evp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <string>
#include <vector>

#include "proxy/carrier/http_upgrade.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {

namespace asio = boost::asio;
namespace ws = carrier::websocket;

inline std::string read_all(int fd) {
    std::string out;
    std::array<char, 4096> piece;
    for (ssize_t got; (got = ::recv(fd, piece.data(), piece.size(), MSG_DONTWAIT)) > 0;)
        out.append(piece.data(), static_cast<std::size_t>(got));
    return out;
}

// What came of it.
struct upgraded {
    ws::upgrade_result result;
    std::string written;  // by the end that was tried
    std::string behind;   // what it left of its input: the first of the frames
};

class exchange {
  public:
    using half = carrier::awaitable<ws::upgrade_result> (*)(carrier::stream_socket&);

    explicit exchange(half near_end) : near_(context_), near_end_(near_end) {
        int fds[2];
        require(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        far_ = fds[1];
        near_.assign(asio::generic::stream_protocol(AF_UNIX, 0), fds[0]);
        asio::co_spawn(context_, run_near(), asio::detached);
        settle();
    }
    exchange(const exchange&) = delete;
    ~exchange() { ::close(far_); }

    // What the near end has written so far.
    std::string take_written() { return read_all(far_); }
    void send(const buffer& piece) {
        // Refused once the near end has closed.
        static_cast<void>(::send(far_, piece.data(), piece.size(), MSG_NOSIGNAL));
        settle();
    }
    upgraded end() {
        ::shutdown(far_, SHUT_WR);
        settle();
        require(done_);
        return {result_, take_written(), result_.leftover + read_all(near_.native_handle())};
    }

  private:
    carrier::awaitable<void> run_near() {
        result_ = co_await near_end_(near_);
        done_ = true;
    }
    // Until there is nothing to do but wait for the far end.
    void settle() {
        do context_.restart();
        while (context_.poll() != 0);
    }

    asio::io_context context_;
    carrier::stream_socket near_;
    half near_end_;
    int far_ = -1;
    ws::upgrade_result result_;
    bool done_ = false;
};

// A header as RFC 9112 wants it: nothing but printable ASCII between CRLFs.
struct http_header {
    bool lawful = false;
    std::string first_line;
    std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

    [[nodiscard]] std::vector<std::string> all(std::string_view name) const {
        std::vector<std::string> out;
        for (const auto& [field, value] : fields)
            if (field == name) out.push_back(value);
        return out;
    }
    [[nodiscard]] std::size_t count(std::string_view name) const { return all(name).size(); }
    // A comma-separated list, over all fields of that name.
    [[nodiscard]] bool lists(std::string_view name, std::string_view token) const;
};

inline std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

inline std::string stripped(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return std::string(text);
}

inline bool http_header::lists(std::string_view name, std::string_view token) const {
    for (std::string value : all(name)) {
        value += ',';
        for (std::size_t at = 0, comma; (comma = value.find(',', at)) != value.npos; at = comma + 1)
            if (lower(stripped(value.substr(at, comma - at))) == token) return true;
    }
    return false;
}

inline http_header read_header(std::string_view text) {
    http_header out;
    out.lawful = text.ends_with("\r\n\r\n");
    for (bool first = true; !text.empty() && text != "\r\n"; first = false) {
        const std::size_t end = text.find("\r\n");
        if (end == text.npos) break;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 2);
        for (const char c : line) out.lawful &= c != '\r' && c != '\n' && c != '\0';
        const std::size_t colon = line.find(':');
        if (first) {
            out.first_line = line;
        } else if (line.starts_with(' ') || line.starts_with('\t')) {  // folded (section 5.2)
            if (!out.fields.empty()) out.fields.back().second += " " + stripped(line);
        } else if (colon == line.npos || colon == 0) {
            out.lawful = false;
        } else {
            out.fields.emplace_back(lower(std::string(line.substr(0, colon))),
                                    stripped(line.substr(colon + 1)));
        }
    }
    return out;
}

// RFC 6455 section 4.2.2.
inline std::string accept_for(const std::string& key) {
    const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<std::uint8_t, 20> digest{};
    EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
    std::array<unsigned char, 32> base64{};
    EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
    return reinterpret_cast<const char*>(base64.data());
}

// `text` with the first `mark` in it replaced.
inline std::string with(std::string text, std::string_view mark, const std::string& by) {
    const std::size_t at = text.find(mark);
    return at == text.npos ? text : text.replace(at, mark.size(), by);
}

// The rest of the input, with a marker "@@" in it blown up: headers near the limit of 8 KiB.
inline std::string draw_header(input& in) {
    const std::size_t filling = in.up_to(9'000);
    return with(in.rest_as_text(), "@@", std::string(filling, 'x'));
}

}  // namespace culvert::fuzz
