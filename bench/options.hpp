// The command line.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "bench/plan.hpp"
#include "bench/serve.hpp"

namespace culvert::load {

struct show_help {
    std::string text;
};
// Results of runs, to be laid side by side.
struct report_plan {
    std::vector<std::string> results;  // files that --json has written; the first is the measure
    std::string output;
};
using command = std::variant<show_help, serve_plan, report_plan, plan>;

// What is wrong with a command line, and what would be right.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// `words`: the arguments, without the program's name. Throws usage_error.
command parse_command_line(const std::vector<std::string>& words);

}  // namespace culvert::load
