// A client section from the words of a command line.
#include "config/command_line.hpp"

#include <doctest/doctest.h>

#include "config/tables.hpp"
#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;
using strings = std::vector<std::string>;

namespace {

struct command {
    folder in;

    command() { write_keys(in); }
    // `words` behind a server and a psk.
    [[nodiscard]] loaded with(strings words) const {
        const strings needed{"--connect", "tcp://edge.example:7700", "--psk", in / "a.psk"};
        words.insert(words.begin(), needed.begin(), needed.end());
        return parse_client_words(words);
    }
    [[nodiscard]] strings says(const strings& words) const { return texts_of(with(words)); }
};

}  // namespace

TEST_SUITE("config.command_line") {
    TEST_CASE("options are the keys of a client section") {
        const command line;
        const loaded read = line.with({"--realm=a = b", "redis", "--dead-peer", "2m"});
        REQUIRE(read.ok());
        REQUIRE(read.value.clients.size() == 1);
        const client_settings& client = read.value.clients.front();
        CHECK(client.connect.front().place.text() == "edge.example:7700");
        CHECK(client.service == "redis");
        CHECK(client.keys.psk.has_value());
        CHECK(client.keys.realm == "a = b");
        CHECK(client.limits.dead_peer == seconds(120));
        CHECK(client.limits.keepalive == seconds(25));
    }

    TEST_CASE("every key but those of a listener can be given") {
        const known_keys client(section_kind::client);
        for (const std::string& key : names_of(client.table())) {
            CAPTURE(key);
            const strings told = command().says({"--" + key + "=?"});
            const bool unknown =
                !told.empty() && told.front().find("is no key of") != told.front().npos;
            CHECK(unknown == (key.starts_with("listen") || key == "pool"));
        }
    }

    TEST_CASE("a value may begin with dashes, and be missing") {
        const command line;
        CHECK(line.with({"--realm", "--psk"}).value.clients.front().keys.realm == "--psk");
        CHECK(line.says({"--keepalive"}) ==
              strings{"culvert: keepalive: the value is missing: write TIME, 5s-5m"});
        CHECK(line.says({"--"}) == strings{"culvert: unknown key ''"});
    }

    TEST_CASE("what is given twice, or not at all") {
        const command line;
        CHECK(line.says({"--keepalive=9", "--keepalive=9"}) ==
              strings{"culvert: 'keepalive' stands here again"});
        CHECK(line.says({"one", "--service", "two"}) ==
              strings{"culvert: 'service' stands here again"});
        CHECK(texts_of(parse_client_words({})).size() == 2);
    }

    TEST_CASE("keys that do not fit each other") {
        const command line;
        CHECK(line.says({"--identity", line.in / "b.key"}) ==
              strings{"culvert: identity needs server-key beside it, to know the other end"});
    }
}
