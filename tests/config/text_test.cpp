// Lines, quotes and near names.
#include <doctest/doctest.h>

#include <vector>

#include "config/diagnostic.hpp"
#include "config/lines.hpp"
#include "config/nearest.hpp"
#include "config/quote.hpp"

using namespace culvert::config;

namespace {

// NUMBER:BODY of each line, NUMBER! of one with a fault.
std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    line_reader reader(text);
    for (text_line line; reader.next(line);) {
        const std::string number = std::to_string(line.number);
        lines.push_back(line.fault.empty() ? number + ':' + std::string(line.body) : number + '!');
    }
    return lines;
}

using strings = std::vector<std::string>;

}  // namespace

TEST_SUITE("config.text") {
    TEST_CASE("lines end with LF, CRLF or the text, and are counted from 1") {
        CHECK(lines_of("a\nb\n") == strings{"1:a", "2:b"});
        CHECK(lines_of("a\r\n\r\nb") == strings{"1:a", "3:b"});
        CHECK(lines_of("\xef\xbb\xbf"
                       "a\n") == strings{"1:a"});
        CHECK(lines_of("\n \t \n a b\t\n") == strings{"3:a b"});
        CHECK(lines_of("").empty());
        CHECK(lines_of("\xef\xbb\xbf").empty());
    }

    TEST_CASE("a comment begins a line or follows white space") {
        CHECK(lines_of("# a\n  # b\na # b\na\t# b # c\n") == strings{"3:a", "4:a"});
        CHECK(lines_of("pa#ss\n") == strings{"1:pa#ss"});
        CHECK(lines_of("pa#ss #x#\n") == strings{"1:pa#ss"});
        CHECK(lines_of("a #\n") == strings{"1:a"});
        CHECK(lines_of("a## b\n") == strings{"1:a## b"});
    }

    TEST_CASE("what is no text is a fault of its line only") {
        using namespace std::string_view_literals;
        CHECK(lines_of("a\nb\0c\nd"sv) == strings{"1:a", "2!", "3:d"});
        CHECK(lines_of("# \0\na"sv) == strings{"1!", "2:a"});
        CHECK(lines_of("a\rb\n") == strings{"1!"});
        CHECK(lines_of("a\x1b[31m\n") == strings{"1!"});
        CHECK(lines_of("a\x7f\n") == strings{"1!"});
    }

    TEST_CASE("a long comment is fine, a long line is not") {
        CHECK(lines_of("#" + std::string(1 << 20, 'x') + "\na") == strings{"2:a"});
        CHECK(lines_of(std::string(1 << 20, 'x') + "\na") == strings{"1!", "2:a"});
        CHECK(lines_of(std::string(8192, 'x')).front().size() == 2 + 8192);
        CHECK(lines_of(std::string(8193, 'x')) == strings{"1!"});
    }

    TEST_CASE("distance counts single edits and swaps") {
        CHECK(edit_distance("", "") == 0);
        CHECK(edit_distance("listen", "listen") == 0);
        CHECK(edit_distance("Listen", "listen") == 0);
        CHECK(edit_distance("lisen", "listen") == 1);
        CHECK(edit_distance("lisetn", "listen") == 1);
        CHECK(edit_distance("listten", "listen") == 1);
        CHECK(edit_distance("", "abc") == 3);
        CHECK(edit_distance("abc", "") == 3);
        CHECK(edit_distance("kitten", "sitting") == 3);
        CHECK(edit_distance("log_level", "log-level") == 1);
    }

    TEST_CASE("only what is near is named") {
        const strings known{"listen", "psk", "path", "max-age"};
        CHECK(nearest("lisen", known) == "listen");
        CHECK(nearest("pks", known) == "psk");
        CHECK(nearest("MAXAGE", known) == "max-age");
        CHECK(nearest("frobnicate", known).empty());
        CHECK(nearest("", known).empty());
        CHECK(nearest(std::string(1 << 20, 'x'), known).empty());
        CHECK(did_you_mean("pahts", known) == "");
        CHECK(did_you_mean("paht", known) == ", did you mean 'path'?");
    }

    TEST_CASE("quoted text cannot steer a terminal nor fill a screen") {
        CHECK(escaped("a\t\xc2\x9b~") == "a\\x09\\xc2\\x9b~");
        CHECK(quote("a b") == "'a b'");
        CHECK(quote("\x1b[2J\n\xff") == "'\\x1b[2J\\x0a\\xff'");
        CHECK(quote(std::string(80, 'a')).size() == 82);
        CHECK(quote(std::string(80, 'a')).ends_with("aaa'"));
        CHECK(quote(std::string(81, 'a')).size() == 85);
        CHECK(quote(std::string(81, 'a')).ends_with("aaa...'"));
    }

    TEST_CASE("diagnostics print FILE:LINE and come in the order of the file") {
        report found("t.conf");
        found.error(7, "b");
        found.add({{"other", 1, severity::error, "o"}});
        found.note(3, "a");
        found.error(7, "c");
        found.error(0, "whole");
        strings texts;
        for (const auto& said : std::move(found).take()) texts.push_back(to_text(said));
        CHECK(texts == strings{"t.conf: whole", "t.conf:3: note: a", "t.conf:7: b", "t.conf:7: c",
                               "other:1: o"});
    }

    TEST_CASE("a path in a diagnostic cannot steer a terminal") {
        const diagnostic said{
            "\xc2\x9b"
            "2J",
            1, severity::error,
            "\x9b"
            "2J: No such file"};
        CHECK(to_text(said) == "\\xc2\\x9b2J:1: \\x9b2J: No such file");
    }
}
