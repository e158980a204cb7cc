#include "bench/option_reader.hpp"

#include <filesystem>

namespace culvert::load {
namespace {

namespace po = boost::program_options;
using config::quote;

std::vector<std::string> names_of(const po::options_description& table) {
    std::vector<std::string> names;
    for (const auto& option : table.options()) names.push_back(option->long_name());
    return names;
}

// Whole names only: an abbreviation in a script would change its meaning with the next option.
constexpr auto style = po::command_line_style::allow_long |
                       po::command_line_style::long_allow_next |
                       po::command_line_style::long_allow_adjacent;

po::parsed_options parse(const std::vector<std::string>& words,
                         const po::options_description& table) {
    try {
        return po::command_line_parser(words).options(table).style(style).run();
    } catch (const po::unknown_option& error) {
        std::string name = error.get_option_name();
        while (name.starts_with('-')) name.erase(0, 1);
        throw usage_error("unknown option " + quote("--" + name) +
                          config::did_you_mean(name, names_of(table)) + "; --help lists them");
    } catch (const po::error& error) {
        throw usage_error(error.what());
    }
}

}  // namespace

po::typed_value<std::string>* text(const char* name) {
    return po::value<std::string>()->value_name(name);
}

std::function<result<std::uint64_t>(const std::string&)> count_to(std::uint64_t most) {
    return [most](const std::string& text) { return config::parse_count(text, {1, most}); };
}

result<config::endpoint> parse_target(const std::string& text) {
    return config::parse_host_port_or_unix(text, std::filesystem::current_path());
}

result<config::endpoint> parse_listen_any_port(const std::string& text) {
    const bool any = text.ends_with(":0") && !text.starts_with("unix:");
    const std::string shown = any ? text.substr(0, text.size() - 1) + "1" : text;
    auto parsed = config::parse_listen_or_unix(shown, std::filesystem::current_path());
    if (parsed && any) parsed->port = 0;
    return parsed;
}

option_reader::option_reader(const std::vector<std::string>& words,
                             const po::options_description& table, std::size_t most_free) {
    const po::parsed_options parsed = parse(words, table);
    for (const auto& option : parsed.options)
        if (option.position_key >= 0 || option.string_key.empty())
            free_.insert(free_.end(), option.value.begin(), option.value.end());
    if (free_.size() > most_free)
        throw usage_error("what is " + quote(free_[most_free]) + " for? Options begin with --");
    try {
        po::store(parsed, found_);
    } catch (const po::error& error) {
        throw usage_error(error.what());
    }
}

}  // namespace culvert::load
