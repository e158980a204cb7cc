// What a path does to bytes, whatever pieces they come in.
#include <doctest/doctest.h>

#include <string>

#include "tests/faults/mangler.hpp"

using namespace culvert::faults;

namespace {

struct result {
    std::string out;
    bool ended;
    bool edited;
    bool held;
};

// "0123456789abcdefghij" through a path, in pieces of `size`.
result through(const std::string& plan, std::size_t size) {
    const std::string text = "0123456789abcdefghij";
    mangler m(parse_script("up " + plan)->up);
    std::vector<std::uint8_t> out;
    for (std::size_t at = 0; at < text.size(); at += size) {
        const std::string piece = text.substr(at, size);
        m.feed(culvert::crypto::as_bytes(piece), out);
    }
    const bool held = m.holding();
    m.release(out);
    return {{out.begin(), out.end()}, m.ended(), m.edited(), held};
}

struct example {
    const char* plan;
    const char* out;
    bool ended = false;
    bool edited = false;
    bool held = false;
};

}  // namespace

TEST_SUITE("faults: mangler") {
    TEST_CASE("the same in pieces of any size") {
        const example examples[] = {
            {"", "0123456789abcdefghij"},
            {"delay=5ms split=3", "0123456789abcdefghij"},
            {"flip@3.0", "0122456789abcdefghij", false, true},
            {"drop@5+3", "0123489abcdefghij", false, true},
            {"repeat@5+3", "0123456756789abcdefghij", false, true},
            {"swap@5+3", "0123489a567bcdefghij", false, true},
            {"drop@0+1 repeat@1+1 swap@2+1 flip@19.0", "11324567 89abcdefghik", false, true},
            {"cut@7", "0123456", true},
            {"rst@0", "", true},
            {"dark@20", "0123456789abcdefghij", true},
            {"truncate@21", "0123456789abcdefghij"},
            {"flip@30.1", "0123456789abcdefghij"},
            // What comes too late: a half stays what it was.
            {"swap@15+4", "0123456789abcdefghij", false, false, true},
            {"repeat@15+9", "0123456789abcdefghij", false, false, true},
            {"swap@5+8 cut@14", "0123456789abcd", true},
            {"repeat@5+8 cut@10", "0123456789", true},
            {"drop@18+9", "0123456789abcdefgh", false, true},
        };
        for (const example& e : examples) {
            std::string wanted = e.out;
            std::erase(wanted, ' ');
            for (std::size_t size = 1; size <= 20; ++size) {
                INFO(e.plan, " in pieces of ", size);
                const result got = through(e.plan, size);
                CHECK(got.out == wanted);
                CHECK(got.ended == e.ended);
                CHECK(got.edited == e.edited);
                CHECK(got.held == e.held);
            }
        }
    }

    TEST_CASE("two equal spans that change places are no harm") {
        mangler m(parse_script("up swap@0+2")->up);
        std::vector<std::uint8_t> out;
        m.feed(culvert::crypto::as_bytes(std::string("abab")), out);
        CHECK(std::string(out.begin(), out.end()) == "abab");
        CHECK_FALSE(m.edited());
    }

    TEST_CASE("after a half that waited in vain the rest passes on") {
        mangler m(parse_script("up swap@1+3 flip@8.0")->up);
        std::vector<std::uint8_t> out;
        m.feed(culvert::crypto::as_bytes(std::string("012")), out);
        m.release(out);
        m.feed(culvert::crypto::as_bytes(std::string("3456789")), out);
        CHECK(std::string(out.begin(), out.end()) == "0123456799");
        CHECK(m.edited_by(edit_kind::flip));
        CHECK_FALSE(m.edited_by(edit_kind::swap));
    }

    TEST_CASE("the end is told once, and nothing passes behind it") {
        mangler m(parse_script("up cut@3")->up);
        std::vector<std::uint8_t> out;
        CHECK_FALSE(m.feed(culvert::crypto::as_bytes(std::string("01")), out));
        CHECK(m.feed(culvert::crypto::as_bytes(std::string("234")), out));
        CHECK_FALSE(m.feed(culvert::crypto::as_bytes(std::string("5")), out));
        CHECK(std::string(out.begin(), out.end()) == "012");
    }
}
