// The tables that the status of a daemon has in a terminal.
#pragma once

#include "proxy/watch/rates.hpp"
#include "proxy/watch/words.hpp"

namespace culvert::watch {

// With rates, sections and clients have what moves now; without, what has moved ever.
table section_table(const reading& now, const rates* since);
table user_table(const reading& now, const rates* since);
// The increase since the reading before is a column of its own.
table failure_table(const reading& now, const rates* since);

}  // namespace culvert::watch
