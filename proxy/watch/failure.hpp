// Why the status of a daemon can't be had.
#pragma once

#include <stdexcept>

namespace culvert::watch {

// The command line or the configuration does not say where: exit status 2.
struct no_place : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Nobody answers there, or somebody else: exit status 1.
struct no_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace culvert::watch
