// Opens the streams of a run.
#pragma once

#include "bench/stream.hpp"
#include "proxy/relay/dial.hpp"

namespace culvert::load {

// Both wait 10 s at most for each step, and throw `failure`. What they refer to outlives the call.
awaitable<std::unique_ptr<stream>> connect_plain(carrier::executor ex, const config::endpoint& to,
                                                 relay::buffer_pool& pool);
awaitable<std::unique_ptr<stream>> connect_tunnel(carrier::executor ex,
                                                  const config::client_settings& to,
                                                  const protocol::client_keys& keys,
                                                  relay::buffer_pool& pool);

}  // namespace culvert::load
