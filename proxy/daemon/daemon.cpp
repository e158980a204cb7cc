#include "proxy/daemon/daemon.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <deque>
#include <future>

#include "crypto/kernels/report.hpp"
#include "crypto/locked_memory.hpp"
#include "proxy/daemon/accept.hpp"
#include "proxy/daemon/confine.hpp"
#include "proxy/daemon/descriptors.hpp"
#include "proxy/daemon/memory_reserve.hpp"
#include "proxy/daemon/worker.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/relay/client_session.hpp"
#include "proxy/relay/connect.hpp"
#include "proxy/relay/server_session.hpp"

namespace culvert::daemon {
namespace {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::clock;
using observe::log;
using observe::log_level;
using relay::closing;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

constexpr std::chrono::milliseconds sweep_interval{200};  // of the unproven connections
constexpr std::chrono::milliseconds drain_interval{20};   // looks whether all have ended
constexpr std::chrono::seconds last_words{3};             // for the ALERTs of cut sessions

observe::log_level to_log_level(config::log_level level) noexcept {
    switch (level) {
        case config::log_level::error:
            return log_level::error;
        case config::log_level::warning:
            return log_level::warning;
        case config::log_level::info:
            return log_level::info;
        case config::log_level::debug:
            return log_level::debug;
    }
    return log_level::info;
}

// What fails in these loops is a fault of ours: it ends the daemon, visibly.
void rethrow(const std::exception_ptr& e) {
    if (e) std::rethrow_exception(e);
}

class daemon {
  public:
    explicit daemon(config::settings settings)
        : options_(settings.daemon), workers_(std::max(1U, settings.daemon.threads)) {
        for (auto& section : settings.servers)
            servers_.push_back(
                std::make_shared<const relay::server_context>(std::move(section), replays_));
        for (auto& section : settings.clients)
            clients_.push_back(std::make_shared<const relay::client_context>(std::move(section)));
    }

    int run();

  private:
    bool listen();
    bool listen(const config::endpoint& place, const std::string& section, closing how,
                const acceptor::taker& take);
    void take_tunnel(const std::shared_ptr<const relay::server_context>& context, descriptor fd);
    void take_application(const std::shared_ptr<const relay::client_context>& context,
                          const std::shared_ptr<std::atomic<std::size_t>>& open, descriptor fd);
    [[nodiscard]] bool confine_to_sections() const;
    worker& least_loaded();
    void add_pools();
    void keep_room_for_clients();

    awaitable<void> sweep_unproven();
    void report_unlocked_keys();
    awaitable<void> control();
    awaitable<int> next_signal();
    awaitable<void> stop_at_next_signal();
    void close_listeners();
    awaitable<bool> all_end(clock::time_point by);
    awaitable<int> drain();
    [[nodiscard]] std::size_t sessions() const;
    [[nodiscard]] bool pools_leaving() const;

    const config::daemon_settings options_;
    protocol::replay_cache replays_;
    std::vector<std::shared_ptr<const relay::server_context>> servers_;
    std::vector<std::shared_ptr<const relay::client_context>> clients_;
    observe::log_limit full_sections_;
    std::deque<worker> workers_;
    asio::io_context context_{1};
    asio::basic_signal_set<carrier::executor> signals_{context_.get_executor(), SIGINT, SIGTERM,
                                                       SIGHUP};
    carrier::timer tick_{context_.get_executor()};
    std::deque<acceptor> acceptors_;
    std::size_t pooled_ = 0;         // spare sessions of all client sections
    std::size_t most_sessions_ = 0;  // that the descriptors suffice for
    bool keys_locked_ = true;
    bool stop_now_ = false;
    int status_ = 0;
};

void report_kernels() {
    for (const auto& choice : crypto::kernel_choices()) {
        log(log_level::debug, "{}: kernel {}", choice.primitive, choice.kernel);
        if (choice.warning != crypto::kernel_warning::none)
            log(log_level::warning, "{}: {} {}; using {}", choice.primitive, choice.refused,
                crypto::describe(choice.warning), choice.kernel);
    }
}

// All is done: a signal that still comes would only turn the exit status into its own, once the set
// that hears them is gone. Of this thread, when no other is left that takes them.
void hold_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

int daemon::run() {
    observe::set_log_level(to_log_level(options_.level));
    report_kernels();
    raise_descriptor_limit();
    keep_memory_reserve();
    if (!listen()) return 2;
    add_pools();
    most_sessions_ = sessions_that_fit(pooled_);
    keep_room_for_clients();
    if (!confine_to_sections()) return 2;
    for (worker& w : workers_) w.start();
    for (acceptor& a : acceptors_) asio::co_spawn(a.executor(), a.run(), rethrow);
    asio::co_spawn(context_, sweep_unproven(), rethrow);
    asio::co_spawn(context_, control(), rethrow);
    log(log_level::info, "ready: {} server and {} client sections, {} threads", servers_.size(),
        clients_.size(), workers_.size());
    context_.run();
    for (worker& w : workers_) w.stop();
    for (worker& w : workers_) w.join();
    hold_signals();
    return status_;
}

// ---- listening ----

bool daemon::listen() {
    bool ok = true;
    for (const auto& context : servers_)
        ok &= listen(context->settings.listen, "server." + context->settings.name, closing::quiet,
                     [this, context](descriptor fd) { take_tunnel(context, std::move(fd)); });
    for (const auto& context : clients_) {
        const auto open = std::make_shared<std::atomic<std::size_t>>(0);
        ok &= listen(context->settings.listen, "client." + context->settings.name, closing::reset,
                     [this, context, open](descriptor fd) {
                         take_application(context, open, std::move(fd));
                     });
    }
    return ok;
}

bool daemon::listen(const config::endpoint& place, const std::string& section, closing how,
                    const acceptor::taker& take) {
    auto sockets = listen_on(place);
    if (!sockets) {
        log(log_level::error, "{}: {}", section, sockets.error().text);
        return false;
    }
    for (auto& socket : *sockets) {
        // Accepted sockets inherit it: there is no moment in which one would close quietly.
        carrier::arm_reset(socket.fd(), how == closing::reset);
        // On a worker's thread, so that what stays there costs no change of threads.
        worker& on = workers_[acceptors_.size() % workers_.size()];
        acceptors_.emplace_back(on.executor(), std::move(socket), section, take,
                                [this] { return sessions() < most_sessions_; });
    }
    log(log_level::info, "{}: listening on {}", section, place.text());
    return true;
}

bool daemon::confine_to_sections() const {
    needs sections;
    for (const auto& context : servers_) {
        sections.listen.push_back(context->settings.listen);
        for (const auto& service : context->settings.services)
            sections.connect.push_back(service.target);
    }
    for (const auto& context : clients_) {
        sections.listen.push_back(context->settings.listen);
        for (const auto& to : context->settings.connect) sections.connect.push_back(to.place);
    }
    try {
        confine(options_, sections);
        return true;
    } catch (const std::runtime_error& e) {
        log(log_level::error, "{}", e.what());
        return false;
    }
}

worker& daemon::least_loaded() {
    return *std::min_element(workers_.begin(), workers_.end(),
                             [](const worker& a, const worker& b) { return a.load() < b.load(); });
}

// Spread over the workers. Each section begins at another one, so that what can't be divided does
// not all come to the first.
void daemon::add_pools() {
    for (std::size_t section = 0; section < clients_.size(); ++section) {
        const std::size_t pool = clients_[section]->settings.pool;
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            const std::size_t share = pool / workers_.size() + (i < pool % workers_.size() ? 1 : 0);
            if (share == 0) continue;
            workers_[(section + i) % workers_.size()].add_pool(clients_[section], share);
        }
        pooled_ += pool;
    }
}

// Where descriptors are few, strangers below their caps would have them all.
void daemon::keep_room_for_clients() {
    if (servers_.empty()) return;
    const std::size_t share = std::max<std::size_t>(1, most_sessions_ / 2 / servers_.size());
    for (const auto& context : servers_) context->unproven->lower_cap(share);
}

void daemon::take_tunnel(const std::shared_ptr<const relay::server_context>& context,
                         descriptor fd) {
    auto make = [context](carrier::stream_socket socket, relay::thread_context thread) {
        return relay::make_server_session(context, std::move(socket), thread);
    };
    least_loaded().adopt(std::move(fd), "server." + context->settings.name, std::move(make), [] {});
}

void daemon::take_application(const std::shared_ptr<const relay::client_context>& context,
                              const std::shared_ptr<std::atomic<std::size_t>>& open,
                              descriptor fd) {
    if (*open >= context->settings.limits.connections) {
        log(full_sections_, log_level::warning,
            "client.{}: a connection was refused: max-connections = {} are open",
            context->settings.name, context->settings.limits.connections);
        return;
    }
    worker& on = least_loaded();
    auto make = [context, pool = on.pool_for(*context)](carrier::stream_socket socket,
                                                        relay::thread_context thread) {
        return relay::make_client_session(context, std::move(socket), thread, pool);
    };
    std::function<void()> ended = [open] { --*open; };
    std::string section = "client." + context->settings.name;
    ++*open;
    on.adopt(std::move(fd), std::move(section), std::move(make), std::move(ended));
}

awaitable<void> daemon::sweep_unproven() {
    carrier::timer pause(context_.get_executor());
    while (!stop_now_) {
        pause.expires_after(sweep_interval);
        co_await pause.async_wait(no_throw);
        report_unlocked_keys();
        for (const auto& context : servers_) {
            const std::size_t evicted = context->unproven->sweep(clock::now());
            if (evicted > 0)
                log(context->evictions, log_level::warning,
                    "server.{}: {} connections without a handshake closed: too many of them",
                    context->settings.name, evicted);
        }
    }
}

// Once: from then on it stays so.
void daemon::report_unlocked_keys() {
    if (!keys_locked_ || crypto::locked_memory::all_locked()) return;
    keys_locked_ = false;
    log(log_level::warning,
        "some keys are not locked in memory, so they may get to swap: raise RLIMIT_MEMLOCK");
}

// ---- signals ----

awaitable<int> daemon::next_signal() {
    for (;;) {
        auto [ec, number] = co_await signals_.async_wait(no_throw);
        if (ec) co_return 0;
        if (number != SIGHUP) co_return number;
        log(log_level::warning, "SIGHUP ignored: this version can't reload its configuration");
    }
}

awaitable<void> daemon::control() {
    co_await next_signal();
    log(log_level::info, "stopping: {} sessions may end within {} s", sessions(),
        options_.drain.count());
    close_listeners();
    status_ = co_await drain();
    stop_now_ = true;
    context_.stop();
}

// Each on its own thread; afterwards no further session begins.
void daemon::close_listeners() {
    for (acceptor& a : acceptors_) {
        std::promise<void> closed;
        asio::post(a.executor(), [&] {
            a.close();
            closed.set_value();
        });
        closed.get_future().wait();
    }
}

awaitable<int> daemon::drain() {
    for (worker& w : workers_) w.drain_sessions();
    asio::co_spawn(context_, stop_at_next_signal(), rethrow);
    const bool in_time = co_await all_end(clock::now() + options_.drain);
    if (in_time || sessions() == 0) {
        log(log_level::info, "stopped: all sessions have ended");
        co_return 0;
    }
    const std::size_t cut = sessions();
    for (worker& w : workers_) w.stop_sessions(relay::end_reason::shutdown);
    if (!stop_now_) co_await all_end(clock::now() + last_words);
    log(log_level::warning, "stopped: {} sessions were cut", cut);
    co_return 1;
}

awaitable<void> daemon::stop_at_next_signal() {
    co_await next_signal();
    stop_now_ = true;
}

// False when the moment, or a second signal, comes first.
awaitable<bool> daemon::all_end(clock::time_point by) {
    while (sessions() > 0 || pools_leaving()) {
        if (stop_now_ || clock::now() >= by) co_return false;
        tick_.expires_after(drain_interval);
        co_await tick_.async_wait(no_throw);
    }
    co_return true;
}

std::size_t daemon::sessions() const {
    std::size_t sum = 0;
    for (const worker& w : workers_) sum += w.load();
    return sum;
}

bool daemon::pools_leaving() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const worker& w) { return w.pools_leaving(); });
}

}  // namespace

int run(config::settings settings) {
    daemon instance(std::move(settings));
    return instance.run();
}

}  // namespace culvert::daemon
