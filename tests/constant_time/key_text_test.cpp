// Keys as text: nothing depends on their digits but whether all of them are digits.
#include <doctest/doctest.h>

#include "config/key_text.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {
namespace {

constexpr std::string_view hex = "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100";
constexpr std::string_view base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn/+8=";

// The padding at the end is part of the form, not of the key.
std::string concealed_text(std::string_view of) {
    std::string out(of);
    conceal(crypto::as_bytes(std::string_view(out).substr(0, out.find('='))));
    return out;
}

}  // namespace

TEST_SUITE_BEGIN("constant_time.key_text");

TEST_CASE("keys") {
    for (const auto text : {hex, base64}) {
        const auto key = config::parse_secret_key(concealed_text(text));
        REQUIRE(key.has_value());
        CHECK(is_secret(key->view()));
        const auto written = config::to_hex(*key);
        CHECK(is_secret(written.view()));
    }
}

TEST_CASE("what is no key") {
    for (const auto text : {hex, base64}) {
        for (const std::size_t at : sizes{0, 20, 42}) {
            std::string wrong(text);
            wrong[at] = '!';
            CHECK_FALSE(config::parse_secret_key(concealed_text(wrong)).has_value());
        }
    }
    CHECK_FALSE(config::parse_secret_key(concealed_text(std::string(64, '0'))).has_value());
    CHECK_FALSE(config::parse_secret_key(concealed_text(std::string(43, 'A') + "=")).has_value());
    // Bits behind the key's last.
    CHECK_FALSE(config::parse_secret_key(concealed_text(std::string(43, 'B') + "=")).has_value());
}

TEST_SUITE_END();

}  // namespace culvert::tests
