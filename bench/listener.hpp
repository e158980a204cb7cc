// A listening socket.
#pragma once

#include "config/endpoint.hpp"

namespace culvert::load {

struct listener {
    int descriptor = -1;       // non-blocking; the caller closes it
    config::endpoint address;  // with the real port
};

// `at` may have port 0: any free port. A unix socket that nobody listens on any more is replaced.
// Throws `failure`, saying why.
listener listen_at(const config::endpoint& at);

}  // namespace culvert::load
