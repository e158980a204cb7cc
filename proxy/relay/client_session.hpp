// The client end: an application's connection, and the tunnel that it gets.
#pragma once

#include <memory>

#include "proxy/relay/session_pool.hpp"

namespace culvert::relay {

// `plain`: a prepared socket, armed to reset. With a pool, of the same thread and section, a
// session is taken from there if one is ready.
std::shared_ptr<session> make_client_session(std::shared_ptr<const client_context> context,
                                             carrier::stream_socket plain, thread_context thread,
                                             std::shared_ptr<session_pool> pool = nullptr);

}  // namespace culvert::relay
