// Reads the flat vector files: `name = value` or `NAME: value` lines, records ended by an empty
// line, # comments.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace culvert::tests {

class vector_record {
  public:
    // Throws std::out_of_range naming the missing field.
    [[nodiscard]] const std::string& text(std::string_view name) const;
    // Hex, or text in double quotes. Throws std::invalid_argument on anything else.
    [[nodiscard]] std::vector<std::uint8_t> bytes(std::string_view name) const;
    // Decimal. Throws std::invalid_argument on anything else.
    [[nodiscard]] std::uint64_t number(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const;

    std::map<std::string, std::string, std::less<>> fields;
    unsigned line = 0;  // where the record begins
};

// All records of tests/vectors/<path>. Throws std::runtime_error naming the line when the file is
// missing, has no record, or has a line that is none of the above or repeats a name in its record.
std::vector<vector_record> read_vectors(std::string_view path);

// The lines of tests/vectors/<path>, for files in a format of their own. Throws as above.
std::vector<std::string> read_lines(std::string_view path);

}  // namespace culvert::tests
