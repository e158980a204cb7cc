// The server end of a tunnel, on a thread of its own.
#pragma once

#include <thread>

#include "config/settings.hpp"
#include "proxy/relay/server_session.hpp"

namespace culvert::load::testing {

class tunnel_server {
  public:
    // Listens where `settings` say.
    explicit tunnel_server(config::server_settings settings);
    ~tunnel_server();

  private:
    carrier::awaitable<void> accept_all(int listening);
    carrier::awaitable<void> serve(int fd);

    protocol::replay_cache replays_;
    std::shared_ptr<const relay::server_context> context_;
    relay::buffer_pool buffers_;
    boost::asio::io_context events_{1};
    std::thread thread_;
};

}  // namespace culvert::load::testing
