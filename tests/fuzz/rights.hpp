// Names and rights of clients, for the targets of both lists.
#pragma once

#include "config/settings.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {

inline void check_name(const std::string& name) {
    static const std::string allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@";
    require(!name.empty() && name.size() <= 255);
    require(name.find_first_not_of(allowed) == std::string::npos);
}

// As they would stand in a list.
inline std::string print(const config::client_rights& rights) {
    std::string out;
    if (rights.rate) out += " rate=" + std::to_string(*rights.rate);
    if (rights.connections) out += " max-connections=" + std::to_string(*rights.connections);
    if (!rights.services) return out;
    std::string names;
    for (const std::string& name : *rights.services) names += (names.empty() ? "" : ",") + name;
    require(!names.empty());
    return out + " services=" + names;
}

}  // namespace culvert::fuzz
