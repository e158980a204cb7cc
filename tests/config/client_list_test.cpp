#include "config/client_list.hpp"

#include <doctest/doctest.h>

#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;

namespace {

using strings = std::vector<std::string>;

strings mistakes_in(std::string_view text) {
    strings texts;
    for (const auto& said : parse_client_list(text, "c.pub").mistakes) {
        texts.push_back(to_text(said));
    }
    return texts;
}

const std::string a_key(64, 'a');
const std::string b_key(64, 'b');

}  // namespace

TEST_SUITE("config.client_list") {
    TEST_CASE("a client is a name and a public key, in hex or base64") {
        const auto list =
            parse_client_list("\xef\xbb\xbf# ours\r\nalice " + a_key +
                                  "  # laptop\r\n\r\n  b.o-b@home\t" + std::string(key_base64),
                              "c.pub");
        CHECK(list.mistakes.empty());
        REQUIRE(list.clients.size() == 2);
        CHECK(list.clients[0].name == "alice");
        CHECK(list.clients[0].key[31] == 0xaa);
        CHECK(list.clients[1].name == "b.o-b@home");
        CHECK(list.clients[1].key[31] == 32);
    }

    TEST_CASE("a list tells all of its mistakes with its own lines") {
        const std::string text = "alice " + a_key + "\nbob\nalice " + b_key + "\ncarol " + a_key +
                                 "\ndave xyz\neve " + b_key + " extra\nf:x " + b_key + "\ngus " +
                                 std::string(64, '0') + "\n";
        CHECK(mistakes_in(text) ==
              strings{"c.pub:2: a line is: NAME PUBLIC-KEY", "c.pub:3: name 'alice' repeats line 1",
                      "c.pub:4: key of 'carol' repeats line 1",
                      "c.pub:5: the public key of 'dave' holds 3 characters: a key is 64 hex "
                      "digits or 44 characters of base64",
                      "c.pub:6: there is something after the public key",
                      "c.pub:7: 'f:x' is not a name: letters, digits, '.', '_', '-' and '@' only",
                      "c.pub:8: the public key of 'gus' is all zero: no key"});
    }

    TEST_CASE("the same key in another form is the same key") {
        CHECK(mistakes_in("a " + std::string(key_hex) + "\nb " + std::string(key_base64)) ==
              strings{"c.pub:2: key of 'b' repeats line 1"});
    }

    TEST_CASE("a list without a client is a mistake") {
        CHECK(mistakes_in("# none yet\n") ==
              strings{"c.pub:1: lists no client: add a line NAME PUBLIC-KEY for each"});
    }

    TEST_CASE("what cannot be read says why") {
        const folder in;
        CHECK(read_client_list(in / "none").error().text ==
              (in / "none").native() + ": No such file or directory");
        CHECK(read_client_list(in.path()).error().text ==
              in.path().native() + ": is a directory, not a file");
    }
}
