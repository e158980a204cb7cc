#include "tests/support/vector_file.hpp"

#include <charconv>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "tests/support/hex.hpp"

namespace culvert::tests {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

[[noreturn]] void refuse(std::string_view path, std::size_t line, const char* why) {
    throw std::runtime_error(std::string(path) + ":" + std::to_string(line) + ": " + why);
}

class reader {
  public:
    explicit reader(std::string_view path) : path_(path) {}

    void take(std::string_view line) {
        ++line_;
        if (line.starts_with('#')) return;
        line = trimmed(line);
        line.empty() ? end_record() : take_field(line);
    }
    std::vector<vector_record> finish() {
        end_record();
        if (records_.empty()) refuse(path_, line_, "no record in the file");
        return std::move(records_);
    }

  private:
    void take_field(std::string_view line) {
        const std::size_t separator = line.find_first_of("=:");
        if (separator == line.npos || separator == 0) refuse(path_, line_, "not a field");
        if (current_.fields.empty()) current_.line = line_;
        const auto [place, fresh] = current_.fields.emplace(trimmed(line.substr(0, separator)),
                                                            trimmed(line.substr(separator + 1)));
        if (!fresh) refuse(path_, line_, "field given twice");
    }
    void end_record() {
        if (current_.fields.empty()) return;
        records_.push_back(std::exchange(current_, {}));
    }

    std::string_view path_;
    unsigned line_ = 0;
    vector_record current_;
    std::vector<vector_record> records_;
};

}  // namespace

const std::string& vector_record::text(std::string_view name) const {
    const auto field = fields.find(name);
    if (field == fields.end()) {
        throw std::out_of_range("record at line " + std::to_string(line) + " has no field " +
                                std::string(name));
    }
    return field->second;
}

std::vector<std::uint8_t> vector_record::bytes(std::string_view name) const {
    const std::string& value = text(name);
    if (!value.starts_with('"')) return from_hex(value);
    if (value.size() < 2 || !value.ends_with('"')) throw std::invalid_argument("open quote");
    return {value.begin() + 1, value.end() - 1};
}

std::uint64_t vector_record::number(std::string_view name) const {
    const std::string& value = text(name);
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size()) {
        throw std::invalid_argument("not a decimal number: " + value);
    }
    return result;
}

bool vector_record::has(std::string_view name) const {
    return fields.contains(name);
}

std::vector<std::string> read_lines(std::string_view path) {
    std::ifstream file(std::string(CULVERT_VECTORS "/") + std::string(path));
    if (!file) refuse(path, 0, "cannot be opened");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
    if (file.bad()) refuse(path, lines.size(), "cannot be read");
    return lines;
}

std::vector<vector_record> read_vectors(std::string_view path) {
    reader records(path);
    for (const std::string& line : read_lines(path)) records.take(line);
    return records.finish();
}

}  // namespace culvert::tests
