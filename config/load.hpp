// Reads a configuration file: every mistake of it at once, or validated settings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"
#include "config/settings.hpp"

namespace culvert::config {

struct loaded {
    settings value;  // to be used only when ok()
    std::vector<diagnostic> diagnostics;

    [[nodiscard]] bool ok() const noexcept;  // there may be notes, but no error
};

// Relative paths in the file count from its folder. Whatever the file holds, the answer is
// diagnostics, never an exception. Reads the key files that it names.
loaded load(const std::filesystem::path& file);

// The same for a text; `name` stands for the file in diagnostics.
loaded parse(std::string_view text, const std::string& name, const std::filesystem::path& folder);

}  // namespace culvert::config
