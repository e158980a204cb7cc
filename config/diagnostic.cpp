#include "config/diagnostic.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/quote.hpp"

namespace culvert::config {

std::string to_text(const diagnostic& said) {
    std::string text = said.file;
    if (said.line != 0) text.append(":").append(std::to_string(said.line));
    text += said.severity == severity::note ? ": note: " : ": ";
    return escaped(text + said.text);  // paths stand in it as they are
}

void report::error(unsigned line, std::string text) {
    found_.push_back({file_, line, severity::error, std::move(text)});
}

void report::note(unsigned line, std::string text) {
    found_.push_back({file_, line, severity::note, std::move(text)});
}

void report::add(std::vector<diagnostic> of_another_file) {
    found_.insert(found_.end(), std::make_move_iterator(of_another_file.begin()),
                  std::make_move_iterator(of_another_file.end()));
}

std::vector<diagnostic> report::take() && {
    const bool cut = full();
    const auto place = [this](const diagnostic& said) {
        const bool other = said.file != file_;
        return std::pair(other, other ? 0 : said.line);
    };
    std::ranges::stable_sort(found_, {}, place);
    if (cut) error(0, "too many mistakes: the rest of the file was not read");
    return std::move(found_);
}

}  // namespace culvert::config
