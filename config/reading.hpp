// What the parser of a value may need beside its text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/diagnostic.hpp"

namespace culvert::config {

struct reading {
    std::filesystem::path folder;  // relative paths of the file count from here
    report& found;
    unsigned line = 0;                                   // being read
    mutable std::vector<std::filesystem::path> files{};  // that were to be read

    // The file that an option names, which is about to be read.
    [[nodiscard]] std::filesystem::path resolve(std::string_view path) const {
        return files.emplace_back(folder / path);
    }
    void note(std::string text) const { found.note(line, std::move(text)); }
};

}  // namespace culvert::config
