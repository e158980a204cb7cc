#include "config/command_line.hpp"

#include <algorithm>
#include <utility>

#include "config/open_section.hpp"

namespace culvert::config {
namespace {

constexpr std::string_view dashes = "--";

// Takes the option that `words` begins with; returns how many words it had.
std::size_t take_option(open_section& section, std::span<const std::string> words) {
    const std::string_view option = std::string_view(words.front()).substr(dashes.size());
    const std::size_t equals = option.find('=');
    if (equals != option.npos) {
        section.take(std::string(option.substr(0, equals)), option.substr(equals + 1));
        return 1;
    }
    section.take(std::string(option), words.size() > 1 ? words[1] : std::string());
    return 2;
}

}  // namespace

loaded parse_client_words(std::span<const std::string> words) {
    report found("culvert");
    reading context{{}, found};
    loaded read;
    client_settings& client = read.value.clients.emplace_back();
    client.name = "pipe";
    open_section section(client, {"the command line", 0, {}, {}, {}}, context);
    while (!words.empty()) {
        if (words.front().starts_with(dashes)) {
            words = words.subspan(std::min(words.size(), take_option(section, words)));
        } else {
            section.take("service", words.front());
            words = words.subspan(1);
        }
    }
    std::vector<listen_place> nothing;
    section.finish(nothing);
    read.diagnostics = std::move(found).take();
    return read;
}

}  // namespace culvert::config
