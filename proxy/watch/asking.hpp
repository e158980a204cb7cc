// What both commands do with their words, and with what goes wrong.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "proxy/observe/printable.hpp"
#include "proxy/watch/failure.hpp"
#include "proxy/watch/place.hpp"

namespace culvert::watch {

inline constexpr auto status_path = "/status.json";

inline void print(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) fmt::print("{}\n", line);
}

inline int complain(const std::exception& what, int exit_status) {
    fmt::print(stderr, "culvert: {}\n", observe::printable(what.what()));
    return exit_status;
}

// Does it, and says what went wrong.
template <class Command>
int complaining(Command command) {
    try {
        return command();
    } catch (const no_place& error) {
        return complain(error, 2);
    } catch (const no_answer& error) {
        return complain(error, 1);
    }
}

}  // namespace culvert::watch
