// A text file as numbered lines without comments: what the configuration and the list of clients
// have in common.
#pragma once

#include <cstddef>
#include <string_view>

namespace culvert::config {

// Without the spaces and tabs at both ends.
std::string_view trim(std::string_view text) noexcept;

// The part before the first space or tab, which is cut from `text` with the white space after it.
std::string_view next_word(std::string_view& text) noexcept;

struct text_line {
    unsigned number = 0;     // from 1
    std::string_view body;   // trimmed, never empty, points into the text
    std::string_view fault;  // not empty: why the line is no text; its body is not to be used
};

// Gives the lines that say something. Lines end with LF, CRLF or the end of the text; a byte order
// mark is skipped; `#` begins a comment at the start of a line or after white space, so that
// `pa#ss` stays whole.
class line_reader {
  public:
    explicit line_reader(std::string_view text) noexcept;

    // False at the end of the text.
    [[nodiscard]] bool next(text_line& line) noexcept;

  private:
    std::string_view rest_;
    unsigned number_ = 0;
};

}  // namespace culvert::config
