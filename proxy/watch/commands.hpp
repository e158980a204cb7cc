// The commands `culvert status` and `culvert top`.
#pragma once

#include <string>
#include <vector>

namespace culvert::watch {

// [--json] [FILE or ADDRESS]. Prints the status of a daemon. 0: it is ready. 1: it is not, or does
// not answer. 2: the words are wrong, or don't say where.
int status(const std::vector<std::string>& words);

// [FILE or ADDRESS]. The same every second, until somebody types q; once where the output is no
// terminal.
int top(const std::vector<std::string>& words);

}  // namespace culvert::watch
