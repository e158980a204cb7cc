#include "proxy/daemon/sections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <future>

#include "proxy/daemon/observation.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/relay/client_session.hpp"
#include "proxy/relay/connect.hpp"
#include "proxy/relay/server_session.hpp"

namespace culvert::daemon {
namespace {

using observe::log;
using observe::log_level;
using relay::closing;

observe::log_limit full_sections;

// Calls `action` on the acceptor's thread and returns when that is done.
template <class Action>
void on_thread_of(const std::shared_ptr<acceptor>& one, bool has_thread, Action action) {
    if (!has_thread) return action(*one);
    std::promise<void> done;
    carrier::asio::post(one->executor(), [&] {
        action(*one);
        done.set_value();
    });
    done.get_future().wait();
}

}  // namespace

// The state to come, and the sockets that it needs beside those that are open.
struct sections::plan {
    servers server_contexts;
    std::vector<client> clients;
    struct place {
        config::endpoint at;
        relay::closing how;
        destination to;
        std::vector<listening_socket> sockets;  // none: it is open already
    };
    std::vector<place> places;
    std::vector<std::string> mistakes;
    std::size_t same = 0, changed = 0, fresh = 0;
};

std::vector<std::string> sections::replace(std::vector<config::server_settings> server_settings,
                                           std::vector<config::client_settings> client_settings,
                                           sockets_at_hand& at_hand) {
    plan next;
    plan_servers(std::move(server_settings), next);
    plan_clients(std::move(client_settings), next);
    plan_listeners(next, at_hand);
    if (!next.mistakes.empty()) {
        for (plan::place& place : next.places)
            for (auto& socket : place.sockets) socket.give_back();
        return std::move(next.mistakes);
    }
    carry_out(std::move(next));
    return {};
}

// ---- what is to be ----

void sections::plan_servers(std::vector<config::server_settings> settings, plan& next) const {
    for (auto& wanted : settings) {
        const auto known = std::find_if(servers_.begin(), servers_.end(), [&](const auto& context) {
            return context->settings.name == wanted.name;
        });
        const bool is_known = known != servers_.end();
        if (is_known && (*known)->settings == wanted) {
            ++next.same;
            next.server_contexts.push_back(*known);
        } else {
            ++(is_known ? next.changed : next.fresh);
            auto counters = counters_.section(info_of(wanted));
            next.server_contexts.push_back(std::make_shared<const relay::server_context>(
                std::move(wanted), replays_, is_known ? known->get() : nullptr,
                std::move(counters)));
        }
        const auto& context = next.server_contexts.back();
        next.places.push_back({context->settings.listen, closing::quiet, to_server(context), {}});
    }
}

void sections::plan_clients(std::vector<config::client_settings> settings, plan& next) const {
    for (auto& wanted : settings) {
        const auto known = std::find_if(clients_.begin(), clients_.end(), [&](const client& one) {
            return one.context->settings.name == wanted.name;
        });
        const bool is_known = known != clients_.end();
        if (is_known && known->context->settings == wanted) {
            ++next.same;
            next.clients.push_back(*known);
        } else {
            ++(is_known ? next.changed : next.fresh);
            auto counters = counters_.section(info_of(wanted));
            next.clients.push_back(
                {std::make_shared<const relay::client_context>(
                     std::move(wanted), std::move(counters),
                     is_known ? known->context.get() : nullptr),
                 is_known ? known->open : std::make_shared<std::atomic<std::size_t>>(0)});
        }
        const client& section = next.clients.back();
        next.places.push_back(
            {section.context->settings.listen, closing::reset, to_client(section), {}});
    }
}

// A port may get another text for the same address: so what is open and not wanted any more is at
// hand too.
void sections::plan_listeners(plan& next, sockets_at_hand& at_hand) const {
    for (const auto& [text, open] : listeners_) {
        const bool stays =
            std::any_of(next.places.begin(), next.places.end(),
                        [&wanted = text](const auto& p) { return p.at.text() == wanted; });
        if (stays || open.place.is_unix()) continue;
        for (const auto& one : open.acceptors)
            at_hand.add(descriptor(::dup(one->fd())), sockets_at_hand::path_belongs_to::us);
    }
    for (plan::place& place : next.places) {
        const auto open = listeners_.find(place.at.text());
        if (open != listeners_.end()) {
            if (open->second.place.access != place.at.access)
                next.mistakes.push_back(place.to.section + ": " + place.at.text() +
                                        " is open: listen-mode and listen-owner take a restart");
            continue;
        }
        auto sockets = listen_on(place.at, at_hand);
        if (sockets)
            place.sockets = std::move(*sockets);
        else
            next.mistakes.push_back(place.to.section + ": " + sockets.error().text);
    }
}

// ---- that it comes to be ----

void sections::carry_out(plan next) {
    listeners before = std::move(listeners_);
    listeners_.clear();
    for (plan::place& place : next.places) {
        const std::string text = place.at.text();
        const auto open = before.find(text);
        listener& on = listeners_[text] =
            open == before.end() ? listener{place.at, place.how, {}} : std::move(open->second);
        if (open != before.end()) {
            before.erase(open);
            on.how = place.how;
            for (const auto& one : on.acceptors) {
                carrier::arm_reset(one->fd(), place.how == closing::reset);
                on_thread_of(one, started_, [&](acceptor& a) { a.redirect(place.to); });
            }
        }
        listen(on, std::move(place.sockets), place.to);
    }
    for (const auto& [text, gone] : before)
        for (const auto& one : gone.acceptors)
            on_thread_of(one, started_, [](acceptor& a) { a.close(); });
    std::size_t sections_gone = servers_.size() + clients_.size() - next.same - next.changed;
    servers_ = std::move(next.server_contexts);
    for (const auto& context : servers_)
        if (context->settings.kick_removed) staff_.stop_removed(context);
    replace_pools(std::exchange(clients_, std::move(next.clients)));
    publish();
    summary_ = fmt::format("{} sections as they were, {} changed, {} new, {} gone", next.same,
                           next.changed, next.fresh, sections_gone);
}

// Now that it is so: what the admin listener tells of the sections.
void sections::publish() const {
    std::vector<observe::section_info> all;
    for (const auto& context : servers_) all.push_back(info_of(context->settings));
    for (const client& one : clients_) all.push_back(info_of(one.context->settings));
    counters_.publish(std::move(all));
}

void sections::listen(listener& on, std::vector<listening_socket> sockets, const destination& to) {
    if (sockets.empty()) return;
    for (auto& socket : sockets) {
        // Accepted sockets inherit it: there is no moment in which one would close quietly.
        carrier::arm_reset(socket.fd(), on.how == closing::reset);
        // On a worker's thread, so that what stays there costs no change of threads.
        const auto one =
            std::make_shared<acceptor>(staff_.next().executor(), std::move(socket), to, room_);
        on.acceptors.push_back(one);
        if (started_) start_accepting(one);
    }
    log(log_level::info, "{}: listening on {}", to.section, on.place.text());
}

void sections::replace_pools(const std::vector<client>& before) {
    const auto holds = [](const std::vector<client>& all, const client& one) {
        return std::any_of(all.begin(), all.end(),
                           [&](const client& c) { return c.context == one.context; });
    };
    for (const client& one : before)
        if (!holds(clients_, one)) staff_.drop_pool(one.context);
    for (const client& one : clients_)
        if (!holds(before, one)) staff_.add_pool(one.context);
}

void sections::start() {
    started_ = true;
    for (const auto& [text, open] : listeners_)
        for (const auto& one : open.acceptors) start_accepting(one);
}

void sections::close_listeners() {
    end_listeners(&acceptor::close);
}

void sections::hand_over_listeners() {
    end_listeners(&acceptor::hand_over);
}

void sections::give_back_listeners() {
    end_listeners(&acceptor::give_back);
}

void sections::end_listeners(void (acceptor::*how)()) {
    for (const auto& [text, open] : listeners_)
        for (const auto& one : open.acceptors)
            on_thread_of(one, started_, [how](acceptor& a) { (a.*how)(); });
    listeners_.clear();
}

// ---- where connections go ----

destination sections::to_server(const std::shared_ptr<const relay::server_context>& context) const {
    const std::string section = "server." + context->settings.name;
    return {section,
            [&staff = staff_, context, section](descriptor fd) {
                auto make = [context](carrier::stream_socket socket, relay::thread_context thread) {
                    return relay::make_server_session(context, std::move(socket), thread);
                };
                staff.least_loaded().adopt(std::move(fd), section, std::move(make), [] {});
            },
            [counters = context->counters] { counters->accept_failed(); }};
}

destination sections::to_client(const client& of) const {
    const std::string section = "client." + of.context->settings.name;
    return {section,
            [&staff = staff_, context = of.context, open = of.open, section](descriptor fd) {
                if (*open >= context->settings.limits.connections) {
                    context->counters->refused(name_of(relay::end_reason::too_many));
                    log(full_sections, log_level::warning,
                        "{}: a connection was refused: max-connections = {} are open", section,
                        context->settings.limits.connections);
                    return;
                }
                worker& on = staff.least_loaded();
                auto make = [context, &on](carrier::stream_socket socket,
                                           relay::thread_context thread) {
                    return relay::make_client_session(context, std::move(socket), thread,
                                                      on.pool_for(*context));
                };
                ++*open;
                on.adopt(std::move(fd), section, std::move(make), [open] { --*open; });
            },
            [counters = of.context->counters] { counters->accept_failed(); }};
}

// ---- what there is ----

std::size_t sections::pooled() const noexcept {
    std::size_t sum = 0;
    for (const client& one : clients_) sum += one.context->settings.pool;
    return sum;
}

std::vector<config::endpoint> sections::listen_places() const {
    std::vector<config::endpoint> places;
    for (const auto& [text, open] : listeners_) places.push_back(open.place);
    return places;
}

std::vector<config::endpoint> sections::connect_places() const {
    std::vector<config::endpoint> places;
    for (const auto& context : servers_) {
        for (const auto& service : context->settings.services)
            places.insert(places.end(), service.targets.begin(), service.targets.end());
        if (context->settings.fallback.is_set()) places.push_back(context->settings.fallback);
    }
    for (const client& one : clients_)
        for (const auto& to : one.context->settings.connect) places.push_back(to.place);
    return places;
}

std::vector<int> sections::listening() const {
    std::vector<int> sockets;
    for (const auto& [text, open] : listeners_)
        for (const auto& one : open.acceptors) sockets.push_back(one->fd());
    return sockets;
}

}  // namespace culvert::daemon
