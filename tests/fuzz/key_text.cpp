// Keys as text, alone and in a file, against a second decoder. A refusal quotes nothing of the
// text.
#include "config/key_text.hpp"

#include "tests/fuzz/folder.hpp"
#include "tests/fuzz/key_reference.hpp"

namespace culvert::fuzz {
namespace {

// A reason gives away no eight characters of a text in a row. Its own words do not count.
void check_quotes_nothing(std::string_view why, std::string_view text) {
    static constexpr std::string_view own_words =
        "is empty: a key is 64 hex digits or 44 characters of base64 characters: a key is 64 hex "
        "digits holds a character that is no hex digit is not the base64 form of 32 bytes is all "
        "zero: no key is too long for a key file";
    if (const auto rest = why.find(" characters:"); rest != why.npos) {
        why.remove_prefix(rest);  // "holds N"
    }
    for (std::size_t i = 0; i + 8 <= text.size(); ++i) {
        const std::string_view part = text.substr(i, 8);
        require(why.find(part) == why.npos || own_words.find(part) != own_words.npos);
    }
}

template <class Key>
void check_text(std::string_view text, config::result<Key> parsed) {
    const auto expected = reference_key(text);
    require(parsed.has_value() == expected.has_value());
    if (!parsed) return check_quotes_nothing(parsed.error().text, text);
    if constexpr (std::is_same_v<Key, config::key>) {
        require(copy(parsed->view()) == *expected);
        const auto hex = config::to_hex(*parsed);
        const std::string again(hex.view().begin(), hex.view().end());
        require(*config::parse_secret_key(again) == *parsed);
    } else {
        require(copy(*parsed) == *expected);
    }
}

std::string_view trimmed(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

void run(const std::string& text) {
    check_text(text, config::parse_secret_key(text));
    check_text(text, config::parse_public_key(text));

    const auto path = folder().file_with(crypto::as_bytes(text));
    const auto read = config::read_secret_key(path);
    const auto expected = text.size() <= 1'024 ? reference_key(trimmed(text)) : std::nullopt;
    require(read.has_value() == expected.has_value());
    if (read) {
        require(copy(read->view()) == *expected);
    } else {
        const std::string& why = read.error().text;
        require(why.starts_with(path.native() + ": "));
        check_quotes_nothing(why.substr(path.native().size() + 2), text);
    }
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run(culvert::fuzz::input(data, size).rest_as_text());
    return 0;
}
