#include "proxy/carrier/http_upgrade.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/error.hpp>

#include "crypto/random.hpp"

namespace culvert::carrier::websocket {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using ws_error = beast::websocket::error;

constexpr auto no_throw = asio::as_tuple(use_awaitable);
constexpr unsigned http_11 = 11;
constexpr std::string_view accept_suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

std::string base64(bytes_view in) {
    std::string out(4 * ((in.size() + 2) / 3) + 1, '\0');  // EVP_EncodeBlock ends with a NUL
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), in.data(),
                    static_cast<int>(in.size()));
    out.pop_back();
    return out;
}

// RFC 6455 section 4.2.2, item 5.4.
std::string accept_for(std::string_view key) {
    const std::string text = std::string(key) + std::string(accept_suffix);
    std::array<std::uint8_t, 20> digest{};
    EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
    return base64(digest);
}

beast::string_view trimmed(beast::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

// Whether the token is one of a comma-separated list. Beast's token_list would also find it in
// front of characters that belong to no list.
bool lists(beast::string_view list, beast::string_view token) {
    while (true) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (beast::iequals(trimmed(list.substr(0, comma)), token)) return true;
        if (comma == list.size()) return false;
        list.remove_prefix(comma + 1);
    }
}

// Several lines of a field are one list (RFC 9110 section 5.3).
bool holds(const http::fields& header, http::field name, beast::string_view token) {
    const auto lines = header.equal_range(name);
    return std::any_of(lines.first, lines.second,
                       [token](const auto& line) { return lists(line.value(), token); });
}

bool is_key(beast::string_view key) {
    // 16 bytes in base64.
    return key.size() == 24 && key.ends_with("==");
}

using request = http::request<http::empty_body>;
using request_parser = http::request_parser<http::empty_body>;

bool is_upgrade(const request& asked, std::string_view path) {
    return asked.method() == http::verb::get && asked.version() == http_11 &&
           asked.target() == path && holds(asked, http::field::connection, "upgrade") &&
           holds(asked, http::field::upgrade, "websocket") &&
           asked[http::field::sec_websocket_version] == "13" &&
           asked.count(http::field::sec_websocket_version) == 1 &&
           is_key(asked[http::field::sec_websocket_key]) &&
           asked.count(http::field::sec_websocket_key) == 1 &&
           asked.count(http::field::host) == 1 && asked.count(http::field::content_length) == 0 &&
           asked.count(http::field::transfer_encoding) == 0;
}

http::response<http::empty_body> switching(const request& asked) {
    const beast::string_view key = asked[http::field::sec_websocket_key];
    http::response<http::empty_body> answer(http::status::switching_protocols, http_11);
    answer.set(http::field::upgrade, "websocket");
    answer.set(http::field::connection, "Upgrade");
    answer.set(http::field::sec_websocket_accept, accept_for({key.data(), key.size()}));
    return answer;
}

http::response<http::string_body> not_found(bool head) {
    http::response<http::string_body> answer(http::status::not_found, http_11);
    answer.set(http::field::connection, "close");
    answer.set(http::field::content_type, "text/plain");
    if (head) {
        answer.content_length(10);
    } else {
        answer.body() = "Not Found\n";
        answer.prepare_payload();
    }
    return answer;
}

// Reads a header, and perhaps what comes behind it.
template <class Parser>
class header_reader {
  public:
    // What does not begin like `expected` is not read to its end.
    explicit header_reader(stream_socket& socket, std::string_view expected = {})
        : socket_(socket), expected_(expected) {
        parser_.header_limit(max_http_header);
    }

    awaitable<error_code> run() {
        while (!parser_.is_header_done()) {
            if (received_.size() == max_http_header) co_return http::error::header_limit;
            error_code ec = co_await wait_readable(socket_);
            if (!ec) ec = take();
            if (!ec) ec = parse();
            if (!ec && !begins_as_expected()) ec = ws_error::upgrade_declined;
            if (ec) co_return ec;
        }
        co_return error_code{};
    }

    [[nodiscard]] const auto& header() const { return parser_.get(); }
    [[nodiscard]] bool done() const { return parser_.is_header_done(); }
    [[nodiscard]] std::string leftover() const { return received_.substr(parsed_); }
    [[nodiscard]] std::string& received() noexcept { return received_; }

  private:
    error_code take() {
        std::array<std::uint8_t, 2'048> memory;
        const std::size_t room = std::min(memory.size(), max_http_header - received_.size());
        const io_result got = try_read(socket_, bytes(memory).first(room));
        received_.append(memory.begin(), memory.begin() + got.size);
        return got.ec == asio::error::would_block ? error_code{} : got.ec;
    }
    [[nodiscard]] bool begins_as_expected() const {
        const std::size_t known = std::min(received_.size(), expected_.size());
        return received_.compare(0, known, expected_, 0, known) == 0;
    }
    error_code parse() {
        error_code ec;
        const std::string_view rest = std::string_view(received_).substr(parsed_);
        parsed_ += parser_.put(asio::buffer(rest), ec);
        return ec == http::error::need_more ? error_code{} : ec;
    }

    stream_socket& socket_;
    const std::string expected_;
    Parser parser_;
    std::string received_;
    std::size_t parsed_ = 0;
};

request make_request(std::string_view host, std::string_view path, const std::string& key) {
    request ask(http::verb::get, beast::string_view(path.data(), path.size()), http_11);
    ask.set(http::field::host, beast::string_view(host.data(), host.size()));
    ask.set(http::field::upgrade, "websocket");
    ask.set(http::field::connection, "Upgrade");
    ask.set(http::field::sec_websocket_key, key);
    ask.set(http::field::sec_websocket_version, "13");
    return ask;
}

bool is_accepted(const http::response<http::empty_body>& answer, const std::string& key) {
    return answer.result() == http::status::switching_protocols && answer.version() == http_11 &&
           holds(answer, http::field::connection, "upgrade") &&
           beast::iequals(answer[http::field::upgrade], "websocket") &&
           answer[http::field::sec_websocket_accept] == accept_for(key) &&
           answer.count(http::field::sec_websocket_accept) == 1 &&
           answer.count(http::field::sec_websocket_extensions) == 0 &&
           answer.count(http::field::sec_websocket_protocol) == 0;
}

// `expected`: what the request has to begin with, where it need not be whole to be refused.
awaitable<upgrade_result> serve(stream_socket& socket, std::string_view path,
                                std::string_view expected) {
    upgrade_result result;
    const auto reader = std::make_unique<header_reader<request_parser>>(socket, expected);
    result.ec = co_await reader->run();
    if (!result.ec && is_upgrade(reader->header(), path)) {
        http::response<http::empty_body> answer = switching(reader->header());
        auto [ec, size] = co_await http::async_write(socket, answer, no_throw);
        result.ec = ec;
        result.leftover = reader->leftover();
        co_return result;
    }
    if (!result.ec) result.ec = ws_error::upgrade_declined;
    result.http = reader->done();
    result.head = result.http && reader->header().method() == http::verb::head;
    result.received = std::move(reader->received());
    co_return result;
}

}  // namespace

awaitable<upgrade_result> accept_upgrade(stream_socket& socket, std::string_view path) {
    upgrade_result result = co_await serve(socket, path, {});
    if (result.http) co_await decline(socket, result);
    co_return result;
}

awaitable<upgrade_result> await_upgrade(stream_socket& socket, std::string_view path) {
    const std::string expected = "GET " + std::string(path) + " HTTP/1.1\r\n";
    co_return co_await serve(socket, path, expected);
}

awaitable<void> decline(stream_socket& socket, upgrade_result& asked) {
    http::response<http::string_body> answer = not_found(asked.head);
    co_await http::async_write(socket, answer, no_throw);
    end_writing(socket);
    asked.answered = true;
}

awaitable<upgrade_result> request_upgrade(stream_socket& socket, std::string_view host,
                                          std::string_view path) {
    upgrade_result result;
    std::array<std::uint8_t, 16> nonce;
    crypto::fill_random(nonce);
    const std::string key = base64(nonce);
    request ask = make_request(host, path, key);
    {
        auto [ec, size] = co_await http::async_write(socket, ask, no_throw);
        result.ec = ec;
    }
    if (result.ec) co_return result;

    using response_parser = http::response_parser<http::empty_body>;
    const auto reader = std::make_unique<header_reader<response_parser>>(socket);
    result.ec = co_await reader->run();
    if (result.ec == asio::error::eof)  // says more to whoever reads the log
        result.ec =
            reader->received().empty() ? http::error::end_of_stream : http::error::partial_message;
    if (result.ec) co_return result;
    result.status = reader->header().result_int();
    if (!is_accepted(reader->header(), key)) result.ec = ws_error::upgrade_declined;
    result.leftover = reader->leftover();
    co_return result;
}

}  // namespace culvert::carrier::websocket
