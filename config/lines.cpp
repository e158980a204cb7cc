#include "config/lines.hpp"

#include <algorithm>

namespace culvert::config {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t longest_body = 8192;  // twice the longest path

std::string_view without_comment(std::string_view line) noexcept {
    for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1)) {
        if (at == 0 || blanks.find(line[at - 1]) != blanks.npos) return line.substr(0, at);
    }
    return line;
}

bool is_control(char c) noexcept {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
}

std::string_view fault_of(std::string_view line) noexcept {
    if (line.find('\0') != line.npos) {
        return "the line holds a NUL byte: save the file as plain UTF-8 text";
    }
    if (std::ranges::any_of(line, is_control)) {
        return "the line holds a control character: save the file as plain UTF-8 text";
    }
    if (trim(without_comment(line)).size() > longest_body) {
        return "the line is longer than 8192 bytes";
    }
    return {};
}

}  // namespace

std::string_view trim(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::string_view next_word(std::string_view& text) noexcept {
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text = trim(text.substr(word.size()));
    return word;
}

line_reader::line_reader(std::string_view text) noexcept : rest_(text) {
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

bool line_reader::next(text_line& line) noexcept {
    while (!rest_.empty()) {
        std::string_view whole = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(std::min(rest_.size(), whole.size() + 1));
        if (whole.ends_with('\r')) whole.remove_suffix(1);
        line = {++number_, trim(without_comment(whole)), fault_of(whole)};
        if (!line.body.empty() || !line.fault.empty()) return true;
    }
    return false;
}

}  // namespace culvert::config
