// Foreign text in a log line: whatever a terminal might obey stands there as \xNN.
#include "proxy/observe/printable.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using culvert::observe::longest_line;
using culvert::observe::printable;
using namespace std::string_literals;

TEST_SUITE("printable") {
    TEST_CASE("text stays as it is") {
        CHECK(printable("plain text, {} and 'quotes'") == "plain text, {} and 'quotes'");
        CHECK(printable("").empty());
        for (const auto* text : {"\u00e4", "\u20ac", "\U0001f512", "\u4e2d\u6587", "\ufffd"})
            CHECK(printable(text) == text);
    }

    TEST_CASE("control characters, those of C1 too") {
        CHECK(printable("a\nb\r\t\x1b[31m\x7f\0c"s) == R"(a\x0ab\x0d\x09\x1b[31m\x7f\x00c)");
        CHECK(printable("\u0080\u009b1m\u0085") == R"(\xc2\x80\xc2\x9b1m\xc2\x85)");
        CHECK(printable("\x9b"
                        "31m") == R"(\x9b31m)");
    }

    TEST_CASE("what begins lines or turns the direction of writing") {
        CHECK(printable("a\u2028b\u2029") == R"(a\xe2\x80\xa8b\xe2\x80\xa9)");
        CHECK(printable("\u202e\u2066\u200f\ufeff") ==
              R"(\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xef\xbb\xbf)");
    }

    TEST_CASE("bytes that are no UTF-8") {
        CHECK(printable("\xff\xfe") == R"(\xff\xfe)");
        CHECK(printable("\xc3(") == R"(\xc3()");
        CHECK(printable("\xe2\x82") == R"(\xe2\x82)");
        CHECK(printable("\xc0\xaf") == R"(\xc0\xaf)");                  // overlong
        CHECK(printable("\xed\xa0\x80") == R"(\xed\xa0\x80)");          // a surrogate
        CHECK(printable("\xf4\x90\x80\x80") == R"(\xf4\x90\x80\x80)");  // beyond Unicode
        CHECK(printable("\xe0\x80\x8a") == R"(\xe0\x80\x8a)");          // an overlong line feed
    }

    TEST_CASE("a long text is cut, between characters, and says so") {
        const std::string longest(longest_line - 4, 'x');
        CHECK(printable(longest) == longest);
        for (const char* piece : {"x", "\x1b", "\u20ac"}) {
            std::string text;
            while (text.size() < 100'000) text += piece;
            const std::string cut = printable(text);
            CHECK(cut.size() < longest_line + 40);
            const std::string end = " ... (cut: " + std::to_string(text.size()) + " bytes)";
            REQUIRE(cut.ends_with(end));
            const std::string tail = cut.substr(0, cut.size() - end.size()).substr(1'200);
            CHECK(tail.size() > 700);
            CHECK((tail == printable(tail) && tail.ends_with(printable(piece))));
        }
    }

    TEST_CASE("random bytes become text that needs no more care") {
        std::mt19937 random(1);
        for (int i = 0; i < 2'000; ++i) {
            std::string text(random() % 64, '\0');
            for (char& c : text) c = static_cast<char>(random());
            const std::string shown = printable(text);
            CHECK(printable(shown) == shown);
        }
    }
}
