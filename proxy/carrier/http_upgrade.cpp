#include "proxy/carrier/http_upgrade.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/error.hpp>

#include "crypto/random.hpp"

namespace culvert::carrier::websocket {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using ws_error = beast::websocket::error;
using header_buffer = beast::flat_static_buffer<max_http_header>;

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

http::response<http::string_body> not_found(const request& asked) {
    http::response<http::string_body> answer(http::status::not_found, http_11);
    answer.set(http::field::connection, "close");
    answer.set(http::field::content_type, "text/plain");
    if (asked.method() == http::verb::head) {
        answer.content_length(10);
    } else {
        answer.body() = "Not Found\n";
        answer.prepare_payload();
    }
    return answer;
}

std::string text_in(const header_buffer& buffer) {
    const auto data = buffer.cdata();
    return {static_cast<const char*>(data.data()), data.size()};
}

// Beast holds each piece of a header to the limit, but not their sum.
template <class Parser>
awaitable<error_code> read_header(stream_socket& socket, header_buffer& buffer, Parser& parser) {
    parser.header_limit(max_http_header);
    std::size_t parsed = 0;
    while (!parser.is_header_done()) {
        auto [ec, size] = co_await http::async_read_some(socket, buffer, parser, no_throw);
        if (ec) co_return ec;
        parsed += size;
        if (parsed > max_http_header) co_return http::error::header_limit;
    }
    co_return error_code{};
}

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

}  // namespace

awaitable<upgrade_result> accept_upgrade(stream_socket& socket, std::string_view path) {
    upgrade_result result;
    const auto buffer = std::make_unique<header_buffer>();
    request_parser parser;
    result.ec = co_await read_header(socket, *buffer, parser);
    if (result.ec) co_return result;

    if (!is_upgrade(parser.get(), path)) {
        http::response<http::string_body> answer = not_found(parser.get());
        co_await http::async_write(socket, answer, no_throw);
        end_writing(socket);
        result.ec = ws_error::upgrade_declined;
        result.answered = true;
        co_return result;
    }
    http::response<http::empty_body> answer = switching(parser.get());
    {
        auto [ec, size] = co_await http::async_write(socket, answer, no_throw);
        result.ec = ec;
    }
    result.leftover = text_in(*buffer);
    co_return result;
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

    const auto buffer = std::make_unique<header_buffer>();
    http::response_parser<http::empty_body> parser;
    result.ec = co_await read_header(socket, *buffer, parser);
    if (result.ec) co_return result;
    result.status = parser.get().result_int();
    if (!is_accepted(parser.get(), key)) result.ec = ws_error::upgrade_declined;
    result.leftover = text_in(*buffer);
    co_return result;
}

}  // namespace culvert::carrier::websocket
