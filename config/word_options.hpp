// NAME=VALUE words behind a value of several words, as in `service` and `connect`.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/reason.hpp"

namespace culvert::config {

struct word_option {
    std::string name;
    // Gets the text behind '='. Throws refused. Null: the name stands alone.
    std::function<void(const std::string& value)> take;
};

class word_options {
  public:
    explicit word_options(std::vector<word_option> known) : known_(std::move(known)) {}

    // Takes a word. Throws refused: unknown, twice, with or without a value where it should be the
    // other way, or a value that is no good.
    void take(std::string_view word);
    [[nodiscard]] bool given(const std::string& name) const { return given_.contains(name); }

  private:
    [[nodiscard]] const word_option& find(const std::string& name) const;

    std::vector<word_option> known_;
    std::set<std::string> given_;
};

}  // namespace culvert::config
