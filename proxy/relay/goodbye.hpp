// How a session that failed takes leave of the other end.
#pragma once

#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/record_writer.hpp"

namespace culvert::relay {

// Sends the ALERT that PROTOCOL.md section 6 has for this end and lets the peer read it, for at
// most two seconds; a reset where there is none. The connection is closed afterwards.
awaitable<void> say_why(record_writer& writer, const session_end& why, buffer_pool& pool);

}  // namespace culvert::relay
