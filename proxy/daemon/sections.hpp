// What a configuration has running: its sections, the sockets they listen on, their pools. It can
// be replaced by another one's while connections come and sessions run.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/daemon/accept.hpp"
#include "proxy/daemon/workers.hpp"
#include "proxy/relay/connect.hpp"
#include "proxy/relay/server_context.hpp"

namespace culvert::daemon {

class sections {
  public:
    // `room`: whether another session may begin, asked from every thread.
    sections(workers& staff, protocol::replay_cache& replays, observe::registry& counters,
             std::function<bool()> room)
        : staff_(staff), replays_(replays), counters_(counters), room_(std::move(room)) {}

    // All of it or nothing: returns what can't be, one line each, and then nothing has changed. A
    // section that is as it was goes on as it is, pool and all; a place that is listened on already
    // stays open without a gap, whosever it becomes; sessions that run end under the settings that
    // they began with. Not from a worker's thread. `at_hand`: sockets that may serve.
    [[nodiscard]] std::vector<std::string> replace(std::vector<config::server_settings> servers,
                                                   std::vector<config::client_settings> clients,
                                                   sockets_at_hand& at_hand);

    // Accepting begins, here and where later changes listen.
    void start();
    // Afterwards no further session begins.
    void close_listeners();
    // The same for a process whose successor has the sockets.
    void hand_over_listeners();
    // The same before start(): those that were at hand are still where they came from.
    void give_back_listeners();

    using servers = std::vector<std::shared_ptr<const relay::server_context>>;
    [[nodiscard]] const servers& server_contexts() const noexcept { return servers_; }
    [[nodiscard]] std::size_t client_sections() const noexcept { return clients_.size(); }
    [[nodiscard]] std::size_t pooled() const noexcept;
    [[nodiscard]] std::vector<config::endpoint> listen_places() const;
    [[nodiscard]] std::vector<config::endpoint> connect_places() const;
    [[nodiscard]] std::vector<int> listening() const;  // the sockets

    // What the last change was, for the log: "2 sections as they were, 1 changed, 1 new, 1 gone".
    [[nodiscard]] const std::string& summary() const noexcept { return summary_; }

  private:
    struct client {
        std::shared_ptr<const relay::client_context> context;
        std::shared_ptr<std::atomic<std::size_t>> open;  // its connections
    };
    struct listener {
        config::endpoint place;
        relay::closing how;
        std::vector<std::shared_ptr<acceptor>> acceptors;
    };
    // By the text of the place.
    using listeners = std::map<std::string, listener>;
    struct plan;

    void plan_servers(std::vector<config::server_settings> settings, plan& next) const;
    void plan_clients(std::vector<config::client_settings> settings, plan& next) const;
    void plan_listeners(plan& next, sockets_at_hand& at_hand) const;
    void carry_out(plan next);
    void end_listeners(void (acceptor::*how)());
    void listen(listener& on, std::vector<listening_socket> sockets, const destination& to);
    void publish() const;
    void replace_pools(const std::vector<client>& before);
    [[nodiscard]] destination to_server(
        const std::shared_ptr<const relay::server_context>& context) const;
    [[nodiscard]] destination to_client(const client& section) const;

    workers& staff_;
    protocol::replay_cache& replays_;
    observe::registry& counters_;
    const std::function<bool()> room_;
    servers servers_;
    std::vector<client> clients_;
    listeners listeners_;
    std::string summary_;
    bool started_ = false;
};

}  // namespace culvert::daemon
