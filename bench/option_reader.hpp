// Options as Program_options finds them, each then parsed by a function of ours.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "config/values.hpp"

namespace culvert::load {

// An option's value in a table; `name` stands for it in help.
boost::program_options::typed_value<std::string>* text(const char* name);

// A whole number from 1 to `most`.
std::function<result<std::uint64_t>(const std::string&)> count_to(std::uint64_t most);

// host:port or unix:path. The second form takes port 0, for any free one, and a port alone.
result<config::endpoint> parse_target(const std::string& text);
result<config::endpoint> parse_listen_any_port(const std::string& text);

// What was parsed, or a usage_error that begins with the option.
template <class T>
T or_throw(const std::string& option, result<T> parsed) {
    if (!parsed) throw usage_error(option + ": " + parsed.error().text);
    return std::move(*parsed);
}

class option_reader {
  public:
    // Throws usage_error on what the table does not know, and on more than `most_free` words
    // besides the options.
    option_reader(const std::vector<std::string>& words,
                  const boost::program_options::options_description& table, std::size_t most_free);

    [[nodiscard]] bool has(const std::string& name) const { return found_.count(name) != 0; }
    [[nodiscard]] const std::vector<std::string>& free_words() const noexcept { return free_; }

    // Empty when it is not there.
    [[nodiscard]] std::string text_of(const std::string& name) const {
        return has(name) ? found_[name].as<std::string>() : std::string();
    }

    template <class Parse>
    auto required(const std::string& name, Parse parse) const {
        return or_throw("--" + name, parse(text_of(name)));
    }
    template <class Parse>
    auto optional(const std::string& name, Parse parse) const {
        using value_type = decltype(required(name, parse));
        return has(name) ? std::optional<value_type>(required(name, parse)) : std::nullopt;
    }
    template <class Parse, class T>
    T value(const std::string& name, Parse parse, T otherwise) const {
        return has(name) ? static_cast<T>(required(name, parse)) : otherwise;
    }

  private:
    boost::program_options::variables_map found_;
    std::vector<std::string> free_;
};

}  // namespace culvert::load
