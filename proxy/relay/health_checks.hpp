// Tries the targets of services now and then, so that connections need not find out.
#pragma once

#include "proxy/relay/resolver.hpp"
#include "proxy/relay/server_context.hpp"

namespace culvert::relay {

// For the services that have check=TIME: each target is connected to, and left at once without a
// word but a PROXY header that says so. Goes on until the checks of the context that has replaced
// this one begin, or nobody else holds the section. On one thread; once for each section, a second
// time does nothing.
void start_health_checks(const carrier::executor& ex,
                         const std::shared_ptr<const server_context>& section,
                         resolver& names = system_resolver());

}  // namespace culvert::relay
