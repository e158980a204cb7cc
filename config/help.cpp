#include "config/help.hpp"

#include <boost/algorithm/string/replace.hpp>

#include "config/tables.hpp"

namespace culvert::config {
namespace {

std::string help_of(const boost::program_options::option_description& option) {
    std::string text = "  " + option.long_name() + " = " + option.semantic()->name() + "\n";
    text += "      " + boost::replace_all_copy(option.description(), "\n", "\n      ");
    if (option.semantic()->is_required()) text += " [required]";
    if (option.semantic()->is_composing()) text += " [repeatable]";
    return text + "\n";
}

std::string help_of(std::string_view heading, section_kind kind) {
    std::string text(heading);
    const known_keys keys(kind);
    for (const auto& option : keys.table().options()) text += help_of(*option);
    return text;
}

}  // namespace

std::string help_text() {
    return help_of("[daemon]\n", section_kind::daemon) +
           help_of("\n[server.NAME]  accepts tunnels\n", section_kind::server) +
           help_of("\n[client.NAME]  accepts plaintext\n", section_kind::client);
}

}  // namespace culvert::config
