#include "proxy/daemon/admin_listener.hpp"

#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>

#include "proxy/observe/log.hpp"

namespace culvert::daemon {
namespace {

using observe::log;
using observe::log_level;

// For the daemon's user and group: whoever may connect sees who uses the tunnels.
constexpr mode_t socket_mode = 0660;

admin::http_rules rules_of(const config::daemon_settings& options) {
    admin::http_rules rules;
    rules.checks_host = options.admin && !options.admin->is_unix() && !options.admin_open;
    if (options.admin) rules.own_host = options.admin->host;
    return rules;
}

}  // namespace

admin_listener::admin_listener(carrier::executor ex, const config::daemon_settings& options,
                               std::function<observe::status()> now)
    : ex_(std::move(ex)),
      place_(options.admin),
      server_(std::make_shared<admin::server>(ex_, rules_of(options), std::move(now))) {}

std::optional<std::string> admin_listener::listen(sockets_at_hand& at_hand) {
    if (!place_) return std::nullopt;
    auto sockets = listen_on(*place_, at_hand);
    if (!sockets) return "admin: " + sockets.error().text;
    if (place_->is_unix()) ::chmod(place_->unix_path.c_str(), socket_mode);
    const destination to{"admin", [to = server_](descriptor fd) { to->adopt(fd.release()); }};
    for (auto& socket : *sockets)
        acceptors_.push_back(
            std::make_shared<acceptor>(ex_, std::move(socket), to, [] { return true; }));
    log(log_level::info, "admin: listening on {}", place_->text());
    return std::nullopt;
}

std::vector<int> admin_listener::listening() const {
    std::vector<int> sockets;
    for (const auto& one : acceptors_) sockets.push_back(one->fd());
    return sockets;
}

void admin_listener::start() {
    for (const auto& one : acceptors_)
        boost::asio::co_spawn(ex_, one->run(), [one](const std::exception_ptr& e) {
            if (e) std::rethrow_exception(e);
        });
}

void admin_listener::stop() {
    end(&acceptor::close);
    server_->stop();
}

void admin_listener::hand_over() {
    end(&acceptor::hand_over);
    server_->wind_up();
}

void admin_listener::end(void (acceptor::*how)()) {
    for (const auto& one : acceptors_) ((*one).*how)();
    acceptors_.clear();
}

std::size_t admin_listener::descriptors() const noexcept {
    return place_ ? admin::server::most_connections : 0;
}

}  // namespace culvert::daemon
