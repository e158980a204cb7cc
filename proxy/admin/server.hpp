// The admin listener's HTTP. It never holds up a session: it lives on a thread that carries none.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "proxy/carrier/net.hpp"
#include "proxy/observe/status.hpp"

namespace culvert::admin {

struct http_rules {
    bool checks_host = true;  // on the loopback: see host.hpp
    std::string own_host;     // of the configuration
};

// All of it on the thread of its executor.
class server : public std::enable_shared_from_this<server> {
  public:
    // With so many connections open a new one takes the place of the one that has been idle
    // longest.
    static constexpr std::size_t most_connections = 16;

    server(const carrier::executor& ex, http_rules rules, std::function<observe::status()> now);
    ~server();

    // Takes over a connected socket, and answers until the other side leaves or takes too long.
    void adopt(int fd);

    // Each connection that is open gets one more answer at most.
    void wind_up() noexcept { winding_up_ = true; }
    // Closes what is open.
    void stop();

  private:
    struct connection;
    using place = std::list<std::shared_ptr<connection>>::iterator;

    carrier::awaitable<void> serve(std::shared_ptr<connection> with);
    carrier::awaitable<bool> serve_one(connection& with);
    void forget(connection& gone);
    [[nodiscard]] bool may_ask(std::string_view host) const noexcept;

    const carrier::executor ex_;
    const http_rules rules_;
    const std::function<observe::status()> now_;
    bool winding_up_ = false;
    std::list<std::shared_ptr<connection>> connections_;  // the one that was last used last
};

}  // namespace culvert::admin
