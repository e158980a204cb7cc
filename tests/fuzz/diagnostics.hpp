// What holds for everything that is said about a file.
#pragma once

#include <algorithm>

#include "config/diagnostic.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {

// `text` is the file: no line that it has not got is named, and what is told can be printed.
inline void check_diagnostics(const std::vector<config::diagnostic>& said, std::string_view text,
                              const std::string& name) {
    const auto lines = static_cast<unsigned>(std::count(text.begin(), text.end(), '\n') + 1);
    require(said.size() <= 202);  // a full report, a full list of clients and the last word
    for (const auto& d : said) {
        if (d.file == name) require(d.line <= lines);
        require(!d.text.empty());
        for (const char c : config::to_text(d)) require(c >= ' ' && c <= '~');
    }
}

}  // namespace culvert::fuzz
