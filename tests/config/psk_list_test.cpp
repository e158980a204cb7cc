#include "config/psk_list.hpp"

#include <doctest/doctest.h>

#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;

namespace {

using strings = std::vector<std::string>;

const std::string hex(key_hex);
const std::string a_key(64, 'a');

// The mistakes, none of which may show a key.
strings mistakes_in(std::string_view text) {
    strings texts;
    for (const auto& said : parse_psk_list(text, "c.psk").mistakes) {
        texts.push_back(to_text(said));
        for (const std::string_view secret : {"0203", "AQID", "aaaa"})
            CHECK(texts.back().find(secret) == std::string::npos);
    }
    return texts;
}

std::string lines(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        std::string key(64, '1');
        key[0] = "0123456789abcdef"[i % 16];
        key[1] = "0123456789abcdef"[i / 16];
        text += "client-" + std::to_string(i) + " " + key + "\n";
    }
    return text;
}

}  // namespace

TEST_SUITE("config.psk_list") {
    TEST_CASE("a holder is a name, a psk in hex or base64, and rights") {
        const auto list = parse_psk_list("\xef\xbb\xbf# ours\r\nalice " + a_key +
                                             "  # laptop\r\n\r\n  b.o-b@home\t" +
                                             std::string(key_base64) + " rate=1G services=web",
                                         "c.psk");
        CHECK(list.mistakes.empty());
        REQUIRE(list.holders.size() == 2);
        REQUIRE(list.psks.size() == 2);
        CHECK(list.holders[0].name == "alice");
        CHECK(list.psks[0].view()[31] == 0xaa);
        CHECK(list.holders[1].name == "b.o-b@home");
        CHECK(list.holders[1].rights.services == strings{"web"});
        CHECK(list.holders[1].rights.rate == std::uint64_t{1} << 30);
        CHECK(list.holders[1].line == 4);
        CHECK(list.psks[1].view()[31] == 32);
        // By these a reload sees that a psk is another.
        const auto again = parse_psk_list("a " + a_key + "\nb " + hex, "c.psk");
        CHECK(again.holders[0].key == list.holders[0].key);
        CHECK(again.holders[1].key == list.holders[1].key);
        CHECK(list.holders[0].key != list.holders[1].key);
    }

    TEST_CASE("a list tells all of its mistakes with its own lines, and shows no key") {
        const std::string text = "alice " + hex + "\nbob\nalice " + a_key + "\ncarol " +
                                 std::string(key_base64) + "\ndave xyz\neve " + a_key + " " + hex +
                                 "\nf:x " + a_key + "\ngus " + std::string(64, '0') + "\n" + hex +
                                 " hal\n" + std::string(key_base64) + " ivy\nj " + a_key +
                                 " max-connections=x\n";
        const std::string form = "[services=A,B] [max-connections=N] [rate=N]";
        CHECK(
            mistakes_in(text) ==
            strings{"c.psk:2: a line is: NAME PSK " + form,
                    "c.psk:3: the name repeats that of line 1",
                    "c.psk:4: the psk repeats that of line 1",
                    "c.psk:5: the psk holds 3 characters: a key is 64 hex digits or 44 characters "
                    "of base64",
                    "c.psk:6: an unknown word stands behind the key (accepted: " + form + ")",
                    "c.psk:7: the name is none: letters, digits, '.', '_', '-' and '@' only",
                    "c.psk:8: the psk is all zero: no key",
                    "c.psk:9: the name is a key: a line is NAME PSK",
                    "c.psk:10: the name is a key: a line is NAME PSK",
                    "c.psk:11: max-connections: 'x' is not a whole number"});
    }

    TEST_CASE("as many psks as the protocol tries, and no more") {
        const auto list = parse_psk_list(lines(16), "c.psk");
        CHECK(list.mistakes.empty());
        CHECK(list.psks.size() == 16);
        CHECK(mistakes_in(lines(17)) ==
              strings{"c.psk:17: more than 16 psks: give clients key pairs instead, with identity "
                      "and clients"});
    }

    TEST_CASE("a list without a client is a mistake") {
        CHECK(mistakes_in("# none yet\n") ==
              strings{"c.psk:1: lists no client: add a line NAME PSK for each"});
    }

    TEST_CASE("the file is secret: the rules of key files hold") {
        const folder in;
        const auto says = [](const std::filesystem::path& file) {
            return read_psk_list(file).error().text.substr(file.native().size());
        };
        const std::string line = "alice " + hex + "\n";
        CHECK(read_psk_list(in.write("good", line, 0640))->psks.size() == 1);
        CHECK(says(in.write("open", line, 0644)) ==
              ": is open to everyone (mode 0644): chmod 600 it");
        CHECK(says(in / "none") == ": No such file or directory; culvert keygen makes key files");
        CHECK(says(in.path()) == ": is a directory, not a file");
        CHECK(says(in.write("long", line + std::string(64 * 1024, ' '))) ==
              ": is too long for a key file");
    }
}
