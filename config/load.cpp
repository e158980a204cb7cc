#include "config/load.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "config/file.hpp"
#include "config/heading.hpp"
#include "config/lines.hpp"
#include "config/open_section.hpp"
#include "config/quote.hpp"

namespace culvert::config {
namespace {

class file_reader {
  public:
    file_reader(const std::string& name, const std::filesystem::path& folder)
        : found_(name), context_{folder, found_} {}

    loaded read(std::string_view text) && {
        line_reader lines(text);
        for (text_line line; !found_.full() && lines.next(line);) take(line);
        if (!found_.full()) finish();
        value_.files = std::move(context_.files);
        return {std::move(value_), std::move(found_).take()};
    }

  private:
    void take(const text_line& line) {
        context_.line = line.number;
        if (!line.fault.empty()) {
            found_.error(line.number, std::string(line.fault));
        } else if (line.body.starts_with('[')) {
            close();
            open(parse_heading(line.body));
        } else {
            take_entry(line.body);
        }
    }

    // A section that cannot count is read all the same, for the mistakes in it.
    void open(const section_heading& heading) {
        seen_heading_ = true;
        if (!heading.mistake.empty()) found_.error(context_.line, heading.mistake);
        if (!heading.kind) return;
        section_place place{to_text(*heading.kind, heading.name), context_.line, {}, {}, {}};
        const auto [first, is_new] = headings_.try_emplace(place.heading, place.line);
        if (!is_new) {
            found_.error(place.line, place.heading + " stands here again, first on line " +
                                         std::to_string(first->second));
        }
        is_counted_ = is_new;
        section_.emplace(*heading.kind, heading.name, std::move(place), is_new ? value_ : spare_,
                         context_);
    }

    void close() {
        if (section_ && is_counted_) section_->finish(listens_);
        section_.reset();
    }

    void take_entry(std::string_view body) {
        if (section_) {
            section_->take(body);
        } else if (!seen_heading_) {
            found_.error(context_.line, quote(body) + " stands before the first section");
        }
    }

    void finish() {
        close();
        check_listens(listens_, found_);
        const bool only_daemon = headings_.size() == headings_.count("[daemon]");
        if (only_daemon && (!seen_heading_ || !headings_.empty())) {
            found_.error(1, "nothing to run: add a section [server.NAME] or [client.NAME]");
        }
    }

    report found_;
    reading context_;
    settings value_;
    settings spare_;                                         // of sections that stand there again
    std::map<std::string, unsigned, std::less<>> headings_;  // the line that first had each
    std::vector<listen_place> listens_;
    std::optional<open_section> section_;  // none after a heading that says nothing
    bool is_counted_ = false;
    bool seen_heading_ = false;
};

}  // namespace

bool loaded::ok() const noexcept {
    return std::ranges::none_of(
        diagnostics, [](const diagnostic& said) { return said.severity == severity::error; });
}

loaded load(const std::filesystem::path& file) {
    const result<std::string> text = read_text(file);
    if (text) {
        loaded read = parse(*text, file.native(), file.parent_path());
        read.value.files.push_back(file);
        return read;
    }
    loaded nothing;
    nothing.diagnostics.push_back({file.native(), 0, severity::error, text.error().text});
    return nothing;
}

loaded parse(std::string_view text, const std::string& name, const std::filesystem::path& folder) {
    return file_reader(name, folder).read(text);
}

}  // namespace culvert::config
