// What errors say: the log has their texts, and callers ask for their conditions.
#include "proxy/protocol/error.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace culvert::protocol;

TEST_SUITE("protocol errors") {
    TEST_CASE("each has a text of its own") {
        std::set<std::string> texts;
        constexpr int all = static_cast<int>(error::truncated) + 1;
        for (int i = 0; i < all; ++i) {
            const std::string text = make_error_code(static_cast<error>(i)).message();
            CHECK_FALSE(text.empty());
            CHECK(text.find("unknown protocol error") == std::string::npos);
            texts.insert(text);
        }
        CHECK(texts.size() == static_cast<std::size_t>(all));
        CHECK(error_category().message(all) == "unknown protocol error");
    }

    TEST_CASE("those of the handshake and those of records are told apart") {
        const auto of = [](error e) { return make_error_code(e); };
        CHECK(of(error::bad_box) == condition::handshake);
        CHECK(of(error::weak_key) == condition::handshake);
        CHECK(of(error::record_too_long) == condition::record);
        CHECK(of(error::truncated) == condition::record);
        CHECK(of(error::truncated) != condition::handshake);
        CHECK(make_error_condition(condition::handshake).message() == "handshake failed");
        CHECK(make_error_condition(condition::record).message() == "record stream failed");
        CHECK(std::string(condition_category().name()) != error_category().name());
    }
}
