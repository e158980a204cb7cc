// One connection through the tunnel, from the connecting of the application to the judgement.
#pragma once

#include <functional>
#include <memory>

#include "tests/faults/application.hpp"
#include "tests/faults/link.hpp"

namespace culvert::faults {

// Where a connection enters, and where the link goes on to.
struct addresses {
    tcp::endpoint entry;
    tcp::endpoint server;
};

class run : public std::enable_shared_from_this<run> {
  public:
    // `others_harm`: what happens outside the network may reset the connection too.
    run(executor ex, std::uint64_t seed, script what, addresses where, milliseconds deadline,
        bool others_harm);

    // Calls `done` once all of it is over, the link's connections included.
    void start(std::function<void()> done);

    // A daemon connects to the network, to the service. False: it has a connection already.
    bool take_link(tcp_socket&& client);
    bool take_service(tcp_socket&& socket);

    // Whether every connection was made that could be.
    [[nodiscard]] bool complete() const noexcept { return link_ && service_; }
    [[nodiscard]] verdict judgement() const;
    [[nodiscard]] const script& what() const noexcept { return what_; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    [[nodiscard]] const faults::link* network() const noexcept { return link_.get(); }
    [[nodiscard]] std::uint64_t bytes() const;
    [[nodiscard]] milliseconds age() const;

  private:
    awaitable<void> connect_application();
    awaitable<void> connect_link(tcp_socket client);
    awaitable<void> wait_for_stragglers();
    void begin(std::unique_ptr<application>& which, tcp_socket socket,
               const application_script& plan, std::uint64_t own, std::uint64_t other);
    void spawn(awaitable<void> part);
    void part_ended();
    void give_up();

    const executor executor_;
    const std::uint64_t seed_;
    const script what_;
    const addresses where_;
    const bool others_harm_;
    const carrier::time_point began_ = carrier::clock::now();
    std::function<void()> done_;
    timer deadline_;
    timer straggling_;
    unsigned parts_ = 0;
    bool link_expected_ = true;
    bool waited_ = false;
    bool given_up_ = false;
    std::unique_ptr<application> app_;
    std::unique_ptr<application> service_;
    std::unique_ptr<faults::link> link_;
    std::string failed_;  // what went wrong around the tunnel
};

}  // namespace culvert::faults
