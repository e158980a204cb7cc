// Numbers as people read them, and columns of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culvert::watch {

std::string count_text(std::uint64_t count);           // 1,234
std::string size_text(double bytes);                   // 17 B, 64.0 KiB, 1.5 GiB
std::string rate_text(std::optional<double> bytes);    // the same a second; - without
std::string duration_text(double seconds);             // 2.3 ms, 12 s, 3 d 4 h
std::string number_text(std::optional<double> value);  // 0.12, 3.4, 1,234; - without

// How many columns a text takes in a terminal, one a character.
std::size_t width_of(std::string_view text) noexcept;
// Cut at so many columns.
std::string cut(std::string_view text, std::size_t columns);

// Rows of words, laid out in columns as wide as their widest word.
class table {
  public:
    // The first row is the head. A name that begins with '>' stands to the right.
    explicit table(std::vector<std::string> head);

    void add(std::vector<std::string> row);
    [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }
    // The head first; none ends in spaces.
    [[nodiscard]] std::vector<std::string> lines() const;

  private:
    std::vector<bool> right_;
    std::vector<std::vector<std::string>> rows_;  // the head too
};

}  // namespace culvert::watch
