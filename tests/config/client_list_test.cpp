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
              strings{
                  "c.pub:2: a line is: NAME PUBLIC-KEY [services=A,B] [max-connections=N] [rate=N]",
                  "c.pub:3: name 'alice' repeats line 1", "c.pub:4: key of 'carol' repeats line 1",
                  "c.pub:5: the public key of 'dave' holds 3 characters: a key is 64 hex "
                  "digits or 44 characters of base64",
                  "c.pub:6: an unknown word stands behind the key (accepted: [services=A,B] "
                  "[max-connections=N] [rate=N])",
                  "c.pub:7: 'f:x' is not a name: letters, digits, '.', '_', '-' and '@' only",
                  "c.pub:8: the public key of 'gus' is all zero: no key"});
    }

    TEST_CASE("behind the key may stand what the client may do") {
        const auto list = parse_client_list("a " + a_key + " services=web,redis.2  rate=10M " +
                                                "max-connections=5 # laptop\n\nb " + b_key + "\n",
                                            "c.pub");
        CHECK(list.mistakes.empty());
        REQUIRE(list.clients.size() == 2);
        const client_rights& a = list.clients[0].rights;
        CHECK(a.services == strings{"web", "redis.2"});
        CHECK(a.connections == 5);
        CHECK(a.rate == 10 * 1024 * 1024);
        CHECK(list.clients[0].line == 1);
        const client_rights& b = list.clients[1].rights;
        CHECK(!b.services);
        CHECK(!b.connections);
        CHECK(!b.rate);
        CHECK(list.clients[1].line == 3);
    }

    TEST_CASE("a mistake in the rights says which word it is") {
        const auto says = [](const std::string& words) {
            const strings found = mistakes_in("a " + a_key + " " + words);
            REQUIRE(found.size() == 1);
            REQUIRE(found[0].starts_with("c.pub:1: "));
            return found[0].substr(9);
        };
        CHECK(says("rate").starts_with(
            "an unknown word stands behind the key, did you mean 'rate'?"));
        CHECK(says("service=web")
                  .starts_with("an unknown word stands behind the key, did you mean 'services'?"));
        CHECK(says("rate=1M rate=2M") == "rate stands there twice");
        CHECK(says("services=a services=b") == "services stands there twice");
        for (const char* empty : {"services=", "services=a,", "services=,a", "services=a,,b"})
            CHECK(says(empty) ==
                  "services: write the names with commas between them: services=A,B");
        CHECK(says("services=a,b,a") == "services: 'a' stands there twice");
        CHECK(says("services=a/b").starts_with("services: 'a/b' is not a name"));
        CHECK(says("max-connections=0") ==
              "max-connections: '0' is out of range: 1 to 1000000 is accepted");
        CHECK(says("max-connections=1000001").ends_with("1 to 1000000 is accepted"));
        CHECK(says("max-connections=") == "max-connections: '' is not a whole number");
        CHECK(says("rate=fast") ==
              "rate: 'fast' is not a rate: write bytes a second, as 500K or 10M");
        CHECK(says("rate=1023") == "rate: '1023' is out of range: 1K to 100G is accepted");
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
