#include "proxy/daemon/daemon.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "config/load.hpp"
#include "crypto/kernels/report.hpp"
#include "crypto/locked_memory.hpp"
#include "proxy/daemon/admin_listener.hpp"
#include "proxy/daemon/command_socket.hpp"
#include "proxy/daemon/commander.hpp"
#include "proxy/daemon/confine.hpp"
#include "proxy/daemon/descriptors.hpp"
#include "proxy/daemon/memory_reserve.hpp"
#include "proxy/daemon/observation.hpp"
#include "proxy/daemon/reload.hpp"
#include "proxy/daemon/sections.hpp"
#include "proxy/daemon/service_manager.hpp"
#include "proxy/daemon/watchdog.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/relay/health_checks.hpp"

namespace culvert::daemon {
namespace {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::clock;
using observe::log;
using observe::log_level;

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
    daemon(config::settings settings, const start& how)
        : how_(how), loaded_(std::move(settings)), options_(loaded_.daemon) {}

    int run();

  private:
    bool take_sockets(sockets_at_hand& at_hand);
    bool listen();
    void give_back();
    bool confine_to_sections() const;
    void count_room();
    void announce();

    commands::outcome reload();
    void put_in_force(const config::daemon_settings& options);

    void check_backends();
    awaitable<void> sweep_unproven();
    void report_unlocked_keys();
    awaitable<void> control();
    awaitable<int> next_signal();
    void leave_to_successor();
    awaitable<void> stop_at_next_signal();
    void stop_listening();
    awaitable<bool> all_end(clock::time_point by);
    awaitable<int> drain();

    const start how_;
    config::settings loaded_;  // until its sections run
    config::daemon_settings options_;
    service_manager manager_;
    protocol::replay_cache replays_;
    workers workers_{std::max(1U, options_.threads)};
    observation observation_{workers_.count(), replays_};
    sections sections_{workers_, replays_, observation_.counters(),
                       [this] { return workers_.sessions() < most_sessions_; }};
    std::optional<commander> predecessor_;
    asio::io_context context_{1};
    asio::basic_signal_set<carrier::executor> signals_{context_.get_executor(), SIGINT, SIGTERM,
                                                       SIGHUP};
    carrier::timer tick_{context_.get_executor()};
    admin_listener admin_{context_.get_executor(), options_,
                          [this] { return observation_.read(); }};
    std::optional<command_socket> commands_;
    std::size_t descriptors_ = 0;                // that are left for sessions and pools
    std::atomic<std::size_t> most_sessions_{0};  // that they suffice for
    bool keys_locked_ = true;
    bool replaced_ = false;
    bool stopping_ = false;
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
    if (!listen()) return give_back(), 2;
    const std::size_t left = descriptors_left();
    descriptors_ = left - std::min(left, admin_.descriptors());
    count_room();
    if (!confine_to_sections()) return give_back(), 2;
    workers_.start();
    sections_.start();
    check_backends();
    admin_.start();
    if (commands_) commands_->start();
    asio::co_spawn(context_, sweep_unproven(), rethrow);
    asio::co_spawn(context_, control(), rethrow);
    if (manager_.patience())
        asio::co_spawn(context_, watch(workers_, manager_, *manager_.patience()), rethrow);
    announce();
    context_.run();
    workers_.stop();
    hold_signals();
    return status_;
}

// ---- starting ----

bool daemon::take_sockets(sockets_at_hand& at_hand) {
    at_hand = manager_.take_sockets();
    if (!how_.replace) return true;
    if (!options_.control.is_set()) {
        log(log_level::error, "--replace needs control = unix:PATH in [daemon], at both daemons");
        return false;
    }
    predecessor_ = commander::reach(options_.control.unix_path);
    if (!predecessor_) {
        log(log_level::info, "no daemon to replace at {}", options_.control.text());
        return true;
    }
    at_hand.add_all(predecessor_->take_over());
    return true;
}

bool daemon::listen() {
    sockets_at_hand at_hand;
    if (!take_sockets(at_hand)) return false;
    auto mistakes =
        sections_.replace(std::move(loaded_.servers), std::move(loaded_.clients), at_hand);
    if (options_.control.is_set()) {
        auto socket = listen_for_commands(options_.control, at_hand);
        if (socket)
            commands_.emplace(context_.get_executor(), std::move(*socket),
                              commands{[this] { return reload(); },
                                       [this] {
                                           auto sockets = sections_.listening();
                                           for (const int fd : admin_.listening())
                                               sockets.push_back(fd);
                                           sockets.push_back(commands_->fd());
                                           return sockets;
                                       },
                                       [this] { leave_to_successor(); }});
        else
            mistakes.push_back("control: " + socket.error().text);
    }
    if (auto mistake = admin_.listen(at_hand)) mistakes.push_back(std::move(*mistake));
    for (const auto& mistake : mistakes) log(log_level::error, "{}", mistake);
    if (!mistakes.empty()) return false;
    for (const auto& place : at_hand.drop_rest())
        log(log_level::warning, "{}: nobody listens there any more: no section has this place",
            place);
    return true;
}

// A daemon that this one was to replace has its sockets still, and their paths.
void daemon::give_back() {
    sections_.give_back_listeners();
    admin_.give_back();
    if (commands_) commands_->give_back();
}

bool daemon::confine_to_sections() const {
    needs all{sections_.listen_places(), sections_.connect_places(), {}};
    if (options_.control.is_set()) all.listen.push_back(options_.control);
    if (options_.admin) all.listen.push_back(*options_.admin);
    all.files = loaded_.files;
    try {
        confine(options_, all);
        return true;
    } catch (const std::runtime_error& e) {
        log(log_level::error, "{}", e.what());
        return false;
    }
}

// Where descriptors are few, strangers below their caps would have them all.
void daemon::count_room() {
    most_sessions_ = sessions_that_fit(descriptors_, sections_.pooled());
    const auto& servers = sections_.server_contexts();
    if (servers.empty()) return;
    const std::size_t share = std::max<std::size_t>(1, most_sessions_ / 2 / servers.size());
    for (const auto& context : servers) context->set_caps(share);
}

void daemon::announce() {
    const auto text = fmt::format("{} server and {} client sections, {} threads",
                                  sections_.server_contexts().size(), sections_.client_sections(),
                                  workers_.count());
    observation_.enter(observation::phase::ready);
    if (predecessor_) manager_.main_process_is_this();
    manager_.ready(text);
    log(log_level::info, "ready: {}", text);
    if (!predecessor_) return;
    try {
        predecessor_->release_it();
        log(log_level::info, "the daemon that ran before has been replaced");
    } catch (const std::runtime_error& e) {
        log(log_level::warning, "{}: both run now", e.what());
    }
    predecessor_.reset();
}

// ---- reload ----

commands::outcome daemon::reload() {
    manager_.reloading();
    commands::outcome made;
    std::optional<config::settings> read = read_again(how_.file, options_, made.lines);
    if (read) {
        sockets_at_hand none;
        made.lines = sections_.replace(std::move(read->servers), std::move(read->clients), none);
        made.good = made.lines.empty();
    }
    if (auto advice = advice_on(made.lines); !advice.empty())
        made.lines.push_back(std::move(advice));
    for (const auto& line : made.lines) log(log_level::error, "reload: {}", line);
    if (made.good) {
        put_in_force(read->daemon);
        made.lines.push_back("reloaded: " + sections_.summary());
    } else {
        made.lines.emplace_back("reload refused: the daemon goes on as it was");
    }
    log(made.good ? log_level::info : log_level::error, "{}", made.lines.back());
    manager_.ready(made.lines.back());
    return made;
}

void daemon::put_in_force(const config::daemon_settings& options) {
    options_.level = options.level;
    options_.drain = options.drain;
    observe::set_log_level(to_log_level(options_.level));
    count_room();
    check_backends();
}

// ---- while it runs ----

void daemon::check_backends() {
    for (const auto& context : sections_.server_contexts())
        relay::start_health_checks(context_.get_executor(), context);
}

awaitable<void> daemon::sweep_unproven() {
    carrier::timer pause(context_.get_executor());
    while (!stop_now_) {
        pause.expires_after(sweep_interval);
        co_await pause.async_wait(no_throw);
        report_unlocked_keys();
        for (const auto& context : sections_.server_contexts()) {
            const std::size_t evicted = context->here->unproven->sweep(clock::now());
            context->counters->evicted(evicted);
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

// 0 when a successor has come instead.
awaitable<int> daemon::next_signal() {
    for (;;) {
        auto [ec, number] = co_await signals_.async_wait(no_throw);
        if (ec) co_return 0;
        if (number != SIGHUP) co_return number;
        if (stopping_) continue;
        static_cast<void>(reload());
    }
}

void daemon::leave_to_successor() {
    if (stopping_) return;
    replaced_ = true;
    signals_.cancel();
}

awaitable<void> daemon::control() {
    co_await next_signal();
    stopping_ = true;
    observation_.enter(observation::phase::draining);
    const auto text =
        fmt::format("{}: {} sessions may end within {} s", replaced_ ? "replaced" : "stopping",
                    workers_.sessions(), options_.drain.count());
    log(log_level::info, "{}", text);
    if (!replaced_) manager_.stopping(text);
    stop_listening();
    status_ = co_await drain();
    admin_.stop();
    stop_now_ = true;
    context_.stop();
}

void daemon::stop_listening() {
    if (replaced_)
        sections_.hand_over_listeners();
    else
        sections_.close_listeners();
    if (replaced_) admin_.hand_over();
    if (!commands_) return;
    if (replaced_)
        commands_->hand_over();
    else
        commands_->close();
}

awaitable<int> daemon::drain() {
    workers_.drain_sessions();
    asio::co_spawn(context_, stop_at_next_signal(), rethrow);
    const bool in_time = co_await all_end(clock::now() + options_.drain);
    if (in_time || workers_.sessions() == 0) {
        log(log_level::info, "stopped: all sessions have ended");
        co_return 0;
    }
    const std::size_t cut = workers_.sessions();
    workers_.stop_sessions(relay::end_reason::shutdown);
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
    while (workers_.sessions() > 0 || workers_.pools_leaving()) {
        if (stop_now_ || clock::now() >= by) co_return false;
        tick_.expires_after(drain_interval);
        co_await tick_.async_wait(no_throw);
    }
    co_return true;
}

}  // namespace

int run(config::settings settings, const start& how) {
    daemon instance(std::move(settings), how);
    return instance.run();
}

}  // namespace culvert::daemon
