// The values of keys: addresses, times, counts, names. What is taken is within its bounds and reads
// the same when it is written down again.
#include "config/values.hpp"

#include "config/address.hpp"
#include "config/connect.hpp"
#include "config/endpoint.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {
namespace {

using namespace config;

void require_words(const reason& why) {
    require(!why.text.empty());
    for (const char c : why.text) require(c >= ' ' && c <= '~');
}

void check_endpoint(const result<endpoint>& parsed) {
    if (!parsed) return require_words(parsed.error());
    require(parsed->is_set() && parsed->is_unix() == (parsed->port == 0));
    require(parsed->is_unix() == parsed->host.empty());
    require(*parse_listen_or_unix(parsed->text(), "/folder") == *parsed);
    require(*parse_host_port_or_unix(parsed->text(), "/folder") == *parsed);
    if (parsed->is_unix()) require(parsed->unix_path.size() < 108);  // sun_path
}

void check_connect(const std::string& text) {
    const auto parsed = parse_connect(text);
    if (!parsed) return require_words(parsed.error());
    const bool ws = parsed->carrier == carrier::websocket;
    require(!parsed->place.is_unix() && parsed->place.port != 0);
    require(parsed->path.starts_with('/') && parsed->path.size() <= 1'024);
    require(ws || parsed->path == "/");
    for (const char c : parsed->path) require(c > ' ' && c <= '~');
    const auto again =
        parse_connect((ws ? "ws://" : "tcp://") + parsed->place.text() + (ws ? parsed->path : ""));
    require(again->place == parsed->place && again->path == parsed->path);
}

unsigned bit(const address_bytes& of, unsigned i) {
    return of[i / 8] >> (7 - i % 8) & 1U;
}

void check_range(const std::string& text, const address_bytes& address) {
    const auto parsed = parse_address_range(text);
    if (!parsed) return require_words(parsed.error());
    require(parsed->prefix <= 128 && parsed->contains(parsed->first));
    bool same = true;
    for (unsigned i = 0; i < parsed->prefix; ++i) same &= bit(parsed->first, i) == bit(address, i);
    require(parsed->contains(address) == same);
}

void check_time(const std::string& text, seconds_range range) {
    const auto parsed = parse_seconds(text, range);
    const auto or_off = parse_seconds_or_off(text, range);
    require(parsed.has_value() ? *or_off == *parsed : (text == "off") == or_off.has_value());
    if (!parsed) return require_words(parsed.error());
    require(*parsed >= range.least && *parsed <= range.most);
    require(*parse_seconds(config::to_text(*parsed), range) == *parsed);
}

void check_count(const std::string& text, count_range range) {
    const auto parsed = parse_count(text, range);
    if (!parsed) return require_words(parsed.error());
    require(*parsed >= range.least && *parsed <= range.most);
    const std::size_t zeros = text.find_first_not_of('0');
    const std::string digits = zeros == text.npos ? "0" : text.substr(zeros);
    require(std::to_string(*parsed) == digits);
}

void check_name(const std::string& text) {
    const auto parsed = parse_name(text);
    if (!parsed) return require_words(parsed.error());
    require(*parsed == text && text.size() <= 255);
}

void run(input in) {
    const std::size_t what = in.up_to(7);
    const address_bytes address = what == 3 ? in.block<16>() : address_bytes{};
    const std::string text = in.rest_as_text();
    switch (what) {
        case 0:
            return check_endpoint(parse_host_port_or_unix(text, "/folder"));
        case 1:
            return check_endpoint(parse_listen_or_unix(text, "/folder"));
        case 2:
            return check_connect(text);
        case 3:
            return check_range(text, address);
        case 4:
            return check_time(text, {seconds(5), std::chrono::hours(720)});
        case 5:
            return check_count(text, {1, 1'000'000});
        case 6:
            return check_count(text, {0, std::uint64_t{1} << 63});
        default:
            return check_name(text);
    }
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
