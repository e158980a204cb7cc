// What is to be said about a configuration file, and the list it is collected in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace culvert::config {

enum class severity : std::uint8_t { error, note };

struct diagnostic {
    std::string file;
    unsigned line = 0;  // from 1; 0 when it is about the file as a whole
    config::severity severity = severity::error;
    std::string text;
};

// FILE:LINE: text, or FILE: text; a note says that it is one. Printable ASCII only, see quote.hpp.
std::string to_text(const diagnostic& said);

// Collects what is found in any order and gives it back in the order of the file.
class report {
  public:
    explicit report(std::string file) : file_(std::move(file)) {}

    void error(unsigned line, std::string text);
    void note(unsigned line, std::string text);
    void add(std::vector<diagnostic> of_another_file);

    // Enough has been found: a file of junk does not deserve a line of output for each of its own.
    [[nodiscard]] bool full() const noexcept { return found_.size() >= most; }

    // In order of lines; what other files hold comes last. Ends with a word if it was full.
    [[nodiscard]] std::vector<diagnostic> take() &&;

  private:
    static constexpr std::size_t most = 100;

    std::string file_;
    std::vector<diagnostic> found_;
};

}  // namespace culvert::config
