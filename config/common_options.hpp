// The keys that servers and clients share.
#pragma once

#include "config/option_values.hpp"
#include "config/reading.hpp"
#include "config/settings.hpp"
#include "config/tables.hpp"

namespace culvert::config {

void add_key_options(option_table& table, credentials& into, const reading& context);
void add_limit_options(option_table& table, session_limits& into);

// Says what a unix socket cannot do, if it is one.
void note_unix(const endpoint& where, const reading& context);

}  // namespace culvert::config
