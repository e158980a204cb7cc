#include "config/key_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "config/key_text.hpp"
#include "crypto/random.hpp"
#include "folder.hpp"

using namespace culvert::config;
using namespace culvert::tests;

namespace {

key expected_key() {
    key bytes;
    for (std::size_t i = 0; i < 32; ++i) bytes.writable()[i] = static_cast<std::uint8_t>(i + 1);
    return bytes;
}

std::string upper(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    });
    return out;
}

// Why the file is refused, without its path; the reason has to name that, and no part of the key.
std::string refusal(const std::filesystem::path& file) {
    const result<key> read = read_secret_key(file);
    REQUIRE(!read);
    const std::string text = read.error().text;
    REQUIRE(text.starts_with(file.native() + ": "));
    CHECK(text.find("0203") == text.npos);
    CHECK(text.find("AQID") == text.npos);
    return text.substr(file.native().size() + 2);
}

std::string to_string(const culvert::crypto::secret<64>& hex) {
    return {hex.view().begin(), hex.view().end()};
}

}  // namespace

TEST_SUITE("config.key_file") {
    TEST_CASE("a key is the same in each form of its file") {
        const folder in;
        std::vector<std::string> bodies{std::string(key_hex), upper(key_hex),
                                        std::string(key_base64)};
        const std::vector<std::pair<std::string, std::string>> frames{
            {"", ""},     {"", "\n"},
            {"", "\r\n"}, {"", "\n\n"},
            {"", " \n"},  {"\xef\xbb\xbf", ""},
            {"  ", ""},   {"\t", "\r\n\r\n"},
            {"\n", "\n"}, {"\xef\xbb\xbf  ", "\n"}};
        for (const auto& body : bodies) {
            for (const auto& [before, after] : frames) {
                const std::string content = before + body + after;
                CAPTURE(content);
                const result<key> read = read_secret_key(in.write("key", content));
                REQUIRE(read.has_value());
                CHECK(*read == expected_key());
            }
        }
    }

    TEST_CASE("base64 uses its whole alphabet") {
        const result<key> read = parse_secret_key("+/+/+/+/+/+/+/+/+/+/AZaz09AZaz09AZaz09AZaz8=");
        REQUIRE(read.has_value());
        CHECK(to_string(to_hex(*read)) ==
              "fbffbffbffbffbffbffbffbffbffbf0196b3d3d0196b3d3d0196b3d3d0196b3f");
    }

    TEST_CASE("any key survives being written as hex and read again") {
        for (int i = 0; i < 100; ++i) {
            key random;
            culvert::crypto::fill_random(random.writable());
            const std::string text = to_string(to_hex(random));
            CAPTURE(text);
            CHECK(parse_secret_key(text).value() == random);
        }
    }

    TEST_CASE("content that is no key says why and never shows itself") {
        using namespace std::string_literals;
        const folder in;
        const std::string hex(key_hex);
        const auto why = [&](std::string_view content) { return refusal(in.write("k", content)); };
        CHECK(why("") == "is empty: a key is 64 hex digits or 44 characters of base64");
        CHECK(why(" \r\n") == "is empty: a key is 64 hex digits or 44 characters of base64");
        CHECK(why(hex.substr(2)) ==
              "holds 62 characters: a key is 64 hex digits or 44 characters of base64");
        CHECK(why(hex + "21") ==
              "holds 66 characters: a key is 64 hex digits or 44 characters of base64");
        CHECK(why(key_base64.substr(0, 43)) ==
              "holds 43 characters: a key is 64 hex digits or 44 characters of base64");
        CHECK(why(hex + "\n" + hex) ==
              "holds 129 characters: a key is 64 hex digits or 44 characters of base64");
        CHECK(why(std::string(64, '0')) == "is all zero: no key");
        CHECK(why(std::string(43, 'A') + "=") == "is all zero: no key");
        CHECK(why(hex.substr(0, 63) + "g") == "holds a character that is no hex digit");
        CHECK(why(hex.substr(0, 63) + "\xff") == "holds a character that is no hex digit");
        CHECK(why(hex.substr(0, 32) + "\0"s + hex.substr(33)) ==
              "holds a character that is no hex digit");
        CHECK(why(hex.substr(0, 32) + "\n" + hex.substr(33)) ==
              "holds a character that is no hex digit");
        CHECK(why(std::string(key_base64.substr(0, 43)) + "A") ==
              "is not the base64 form of 32 bytes");
        CHECK(why(std::string(key_base64.substr(0, 42)) + "B=") ==
              "is not the base64 form of 32 bytes");
        CHECK(why("-" + std::string(key_base64.substr(1))) == "is not the base64 form of 32 bytes");
        CHECK(why(std::string(1 << 20, 'a')) == "is too long for a key file");
        CHECK(why(hex + std::string(1024, ' ')) == "is too long for a key file");
    }

    TEST_CASE("every byte that is no digit is refused in every place") {
        for (std::size_t place = 0; place < 64; place += 21) {
            for (int c = 0; c < 256; ++c) {
                std::string text(key_hex);
                text[place] = static_cast<char>(c);
                const bool digit =
                    (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
                CAPTURE(c);
                CHECK(parse_secret_key(text).has_value() == digit);
            }
        }
        for (int c = 0; c < 256; ++c) {
            std::string text(key_base64);
            text[5] = static_cast<char>(c);
            const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                               (c >= 'A' && c <= 'Z') || c == '+' || c == '/';
            CAPTURE(c);
            CHECK(parse_secret_key(text).has_value() == digit);
        }
    }

    TEST_CASE("what is no regular file is refused at once") {
        const folder in;
        CHECK(refusal(in.path()) == "is a directory, not a file");
        REQUIRE(mkfifo((in / "fifo").c_str(), 0600) == 0);
        CHECK(refusal(in / "fifo") == "is not a regular file");  // and must not wait for a writer
        CHECK(refusal("/dev/zero") == "is not a regular file");
        CHECK(refusal(in / "none") == "No such file or directory; culvert keygen makes key files");
        CHECK(refusal(in.write("f", "") / "below") ==
              "Not a directory; culvert keygen makes key files");
    }

    TEST_CASE("a file of everyone is refused, one of owner or group is fine") {
        const folder in;
        for (const mode_t mode : {0400U, 0600U, 0640U, 0440U, 0700U}) {
            CAPTURE(mode);
            CHECK(read_secret_key(in.write("k", key_hex, mode)).has_value());
            std::filesystem::remove(in / "k");
        }
        CHECK(refusal(in.write("a", key_hex, 0644)) ==
              "is open to everyone (mode 0644): chmod 600 it");
        CHECK(refusal(in.write("b", key_hex, 0604)) ==
              "is open to everyone (mode 0604): chmod 600 it");
        CHECK(refusal(in.write("c", key_hex, 0602)) ==
              "is open to everyone (mode 0602): chmod 600 it");
    }

    TEST_CASE("the mode is that of the file behind a link") {
        const folder in;
        std::filesystem::create_symlink(in.write("real", key_hex), in / "link");
        CHECK(read_secret_key(in / "link").has_value());
        std::filesystem::create_symlink(in.write("open", key_hex, 0644), in / "link2");
        CHECK(!read_secret_key(in / "link2"));
    }

    TEST_CASE("a new key file holds the key for its owner only") {
        const folder in;
        const mode_t before = umask(0);
        REQUIRE(create_key_file(in / "a", expected_key()).has_value());
        umask(0777);
        REQUIRE(create_key_file(in / "b", expected_key()).has_value());
        umask(before);
        for (const char* name : {"a", "b"}) {
            CAPTURE(name);
            struct stat status {};
            REQUIRE(stat((in / name).c_str(), &status) == 0);
            CHECK((status.st_mode & 07777) == 0600);
            CHECK(content_of(in / name) == std::string(key_hex) + "\n");
            CHECK(read_secret_key(in / name).value() == expected_key());
        }
    }

    TEST_CASE("a key file is never overwritten") {
        const folder in;
        const auto file = in.write("a", "precious");
        const auto done = create_key_file(file, expected_key());
        REQUIRE(!done);
        CHECK(done.error().text ==
              file.native() + ": exists already, and a key is never overwritten");
        CHECK(content_of(file) == "precious");
        std::filesystem::create_symlink(in / "elsewhere", in / "link");
        CHECK(!create_key_file(in / "link", expected_key()));
        CHECK(!std::filesystem::exists(in / "elsewhere"));
        CHECK(!create_key_file(in.path(), expected_key()));
        CHECK(create_key_file(in / "no" / "folder", expected_key()).error().text ==
              (in / "no" / "folder").native() + ": No such file or directory");
    }

    TEST_CASE("a failed write leaves no file") {
        const folder in;
        rlimit before{};
        REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
        const auto handler = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit ten_bytes{10, before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &ten_bytes) == 0);
        const auto done = create_key_file(in / "a", expected_key());
        setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, handler);
        REQUIRE(!done);
        CHECK(done.error().text == (in / "a").native() + ": File too large");
        CHECK(!std::filesystem::exists(in / "a"));
    }
}
