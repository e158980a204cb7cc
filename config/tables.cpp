#include "config/tables.hpp"

#include <boost/any.hpp>

namespace culvert::config {

known_keys::known_keys(section_kind kind) {
    switch (kind) {
        case section_kind::daemon:
            add_daemon_options(table_, daemon_, context_);
            break;
        case section_kind::server:
            add_server_options(table_, server_, context_);
            break;
        case section_kind::client:
            add_client_options(table_, client_, context_);
            break;
    }
}

bool known_keys::has(const std::string& key) const {
    return table_.find_nothrow(key, false) != nullptr;
}

std::vector<std::string> names_of(const option_table& table) {
    std::vector<std::string> names;
    for (const auto& option : table.options()) names.push_back(option->long_name());
    return names;
}

std::string default_of(const boost::program_options::option_description& option) {
    boost::any value;
    if (!option.semantic()->apply_default(value)) return {};
    return boost::any_cast<std::string>(value);
}

}  // namespace culvert::config
