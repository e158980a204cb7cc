// Reads the flat vector files: `name = value` lines, records ended by an empty line, # comments.
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
    [[nodiscard]] std::vector<std::uint8_t> bytes(std::string_view name) const;  // hex
    [[nodiscard]] std::uint64_t number(std::string_view name) const;             // decimal
    [[nodiscard]] bool has(std::string_view name) const;

    std::map<std::string, std::string, std::less<>> fields;
    unsigned line = 0;  // where the record begins
};

// All records of tests/vectors/<path>. Throws std::runtime_error when the file is missing or has none.
std::vector<vector_record> read_vectors(std::string_view path);

}  // namespace culvert::tests
