// The known keys of each kind of section, with their defaults and a line of help: the one place
// to change when a key is added.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "config/reading.hpp"
#include "config/settings.hpp"

namespace culvert::config {

using option_table = boost::program_options::options_description;

enum class section_kind : std::uint8_t { daemon, server, client };

// Each fills a table whose values are bound to `into` and `context`; both must outlive it. A
// required option has to be given; a composing one may be given more than once.
void add_daemon_options(option_table& table, daemon_settings& into, reading& context);
void add_server_options(option_table& table, server_settings& into, reading& context);
void add_client_options(option_table& table, client_settings& into, reading& context);

// The table of a kind that is bound to nothing that lasts: for those who want to know the keys.
class known_keys {
  public:
    explicit known_keys(section_kind kind);
    known_keys(const known_keys&) = delete;
    known_keys& operator=(const known_keys&) = delete;

    [[nodiscard]] const option_table& table() const noexcept { return table_; }
    [[nodiscard]] bool has(const std::string& key) const;

  private:
    report found_{""};
    reading context_{{}, found_};
    daemon_settings daemon_;
    server_settings server_;
    client_settings client_;
    option_table table_;
};

std::vector<std::string> names_of(const option_table& table);

// Empty when the option has none.
std::string default_of(const boost::program_options::option_description& option);

}  // namespace culvert::config
