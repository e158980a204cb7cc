// What the parser of a value may need beside its text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "config/diagnostic.hpp"

namespace culvert::config {

struct reading {
    std::filesystem::path folder;  // relative paths of the file count from here
    report& found;
    unsigned line = 0;  // being read

    [[nodiscard]] std::filesystem::path resolve(std::string_view path) const {
        return folder / path;
    }
    void note(std::string text) const { found.note(line, std::move(text)); }
};

}  // namespace culvert::config
